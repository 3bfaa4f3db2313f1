// A sealed text opens only under its own secret and name, and only unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealWith } from './vault.ts'

const seal = sealWith('a secret')
const NAME = { keyId: 'key_1', id: 'resp_1' }

test('a sealed text opens again, and two seals of one text differ', () => {
  const one = seal.close('Grüße 🐢', NAME)
  const other = seal.close('Grüße 🐢', NAME)
  assert.equal(seal.open(one, NAME), 'Grüße 🐢')
  assert.notDeepEqual(one, other)
  assert.equal(Buffer.from(one).includes('Gr'), false)
})

test('an empty text can be sealed and opened', () => {
  assert.equal(seal.open(seal.close('', NAME), NAME), '')
})

test('a sealed text does not open for another key, name or secret', () => {
  const sealed = seal.close('mine', NAME)
  assert.equal(seal.open(sealed, { ...NAME, keyId: 'key_2' }), undefined)
  assert.equal(seal.open(sealed, { ...NAME, id: 'resp_2' }), undefined)
  assert.equal(sealWith('another secret').open(sealed, NAME), undefined)
})

test('a changed or cut seal does not open', () => {
  const sealed = seal.close('mine', NAME)
  for (let index = 0; index < sealed.length; index++) {
    const changed = Uint8Array.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.equal(seal.open(changed, NAME), undefined, `byte ${index}`)
    assert.equal(seal.open(sealed.subarray(0, index), NAME), undefined, `cut at ${index}`)
  }
})
