// A packed seal comes back as it went; whatever else a client packs is nobody's seal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpaqueReasoning } from '../../core/request.ts'
import { packReasoning, PACK_MARK, unpackReasoning } from './opaque-reasoning.ts'

const SEAL: OpaqueReasoning = { format: 'gemini', kind: 'signature', value: '{"a":[]}', id: 'one' }
const HOME = { format: 'messages', kind: 'signature' } as const

const packed = (value: unknown): string =>
  PACK_MARK + Buffer.from(JSON.stringify(value)).toString('base64url')

test('a seal of another format comes back as it went', () => {
  assert.deepEqual(unpackReasoning(packReasoning(SEAL, 'messages'), HOME), SEAL)
})

test('a pack with anything nested in it is nobody’s seal, so that none is large to parse', () => {
  for (const text of [packed({ ...SEAL, more: {} }), packed({ ...SEAL, more: [] }), packed([])]) {
    assert.deepEqual(unpackReasoning(text, HOME), { ...HOME, value: text })
  }
})
