// A packed seal comes back as it went; whatever else a client packs is nobody's seal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReasoningSeal } from '../../core/request.ts'
import { packSeal, SEAL_MARK, unpackSeal } from './opaque-reasoning.ts'

const SEAL: ReasoningSeal = { format: 'gemini', kind: 'signature', value: '{"a":[]}', id: 'one' }
const HOME = { format: 'messages', kind: 'signature' } as const

const packed = (value: unknown): string =>
  SEAL_MARK + Buffer.from(JSON.stringify(value)).toString('base64url')

test('a seal of another format comes back as it went', () => {
  assert.deepEqual(unpackSeal(packSeal(SEAL, 'messages'), HOME), SEAL)
})

test('a pack with anything nested in it is nobody’s seal, so that none is large to parse', () => {
  for (const text of [packed({ ...SEAL, more: {} }), packed({ ...SEAL, more: [] }), packed([])]) {
    assert.deepEqual(unpackSeal(text, HOME), { ...HOME, value: text })
  }
})
