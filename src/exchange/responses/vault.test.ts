// A sealed text opens only under its own secret and name, and only unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { responseVault } from './vault.ts'

const vault = responseVault(Buffer.from('a secret'))
const NAME = { keyId: 'key_1', id: 'resp_1' }

test('a sealed text opens again, and two seals of one text differ', () => {
  const one = vault.seal('Grüße 🐢', NAME)
  const other = vault.seal('Grüße 🐢', NAME)
  assert.equal(vault.open(one, NAME), 'Grüße 🐢')
  assert.notDeepEqual(one, other)
  assert.equal(Buffer.from(one).includes('Gr'), false)
})

test('an empty text can be sealed and opened', () => {
  assert.equal(vault.open(vault.seal('', NAME), NAME), '')
})

test('a sealed text does not open for another key, name or secret', () => {
  const sealed = vault.seal('mine', NAME)
  assert.equal(vault.open(sealed, { ...NAME, keyId: 'key_2' }), undefined)
  assert.equal(vault.open(sealed, { ...NAME, id: 'resp_2' }), undefined)
  assert.equal(responseVault(Buffer.from('another secret')).open(sealed, NAME), undefined)
})

test('a changed or cut seal does not open', () => {
  const sealed = vault.seal('mine', NAME)
  for (let index = 0; index < sealed.length; index++) {
    const changed = Uint8Array.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.equal(vault.open(changed, NAME), undefined, `byte ${index}`)
    assert.equal(vault.open(sealed.subarray(0, index), NAME), undefined, `cut at ${index}`)
  }
})
