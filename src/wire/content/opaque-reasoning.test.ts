// Packed reasoning comes back as it went; whatever else a client packs is nobody's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpaqueReasoning } from '../../core/request.ts'
import { packReasoning, PACK_MARK, unpackReasoning } from './opaque-reasoning.ts'

const OPAQUE: OpaqueReasoning = {
  format: 'gemini',
  kind: 'signature',
  value: '{"a":[]}',
  id: 'one',
}
const HOME = { format: 'messages', kind: 'signature' } as const

const packed = (value: unknown): string =>
  PACK_MARK + Buffer.from(JSON.stringify(value)).toString('base64url')

test('opaque reasoning of another format comes back as it went', () => {
  assert.deepEqual(unpackReasoning(packReasoning(OPAQUE, 'messages'), HOME), OPAQUE)
})

test('a pack with anything nested in it is nobody’s, so that none is large to parse', () => {
  for (const text of [
    packed({ ...OPAQUE, more: {} }),
    packed({ ...OPAQUE, more: [] }),
    packed([]),
  ]) {
    assert.deepEqual(unpackReasoning(text, HOME), { ...HOME, value: text })
  }
})
