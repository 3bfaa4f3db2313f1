// What people see of an address: enough to tell destinations apart, never enough to write there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownAddress } from './destinations.ts'

for (const [address, shown] of [
  [
    'https://hooks.example.com/services/T0123456/B0123456/x7QdaB3k',
    'https://hooks.example.com/…aB3k',
  ],
  ['https://hooks.example.com/tollgate', 'https://hooks.example.com/…'],
  ['https://hooks.example.com/?token=x7QdaB3k', 'https://hooks.example.com/…'],
  ['https://hooks.example.com/#x7QdaB3k', 'https://hooks.example.com/…'],
  ['http://10.0.0.7:8080', 'http://10.0.0.7:8080/'],
] as const)
  test(`${address} is shown as ${shown}`, () => {
    assert.equal(shownAddress({ kind: 'webhook', address }), shown)
  })

test('an e-mail address is shown whole', () => {
  const address = 'ops@example.com'
  assert.equal(shownAddress({ kind: 'email', address }), address)
})
