// The address people are given: a configured one wins, and one that means all interfaces is replaced.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { adminUrlOf } from './admin-url.ts'
import { loadConfig } from './load.ts'

const cases = [
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ['http://127.0.0.1:51234', 'http://127.0.0.1:51234'],
  ['http://0.0.0.0:4000', 'http://127.0.0.1:4000'],
  ['http://[::]:4000', 'http://127.0.0.1:4000'],
  ['http://[::1]:4000', 'http://[::1]:4000'],
] as const

for (const [listening, url] of cases)
  test(`${listening} is reached at ${url}`, () => {
    assert.equal(adminUrlOf(loadConfig({ env: {}, folder: '/' }), listening), url)
  })

test('public_url wins, and a separate admin address comes before the shared one', () => {
  const { admin } = loadConfig({ env: {}, folder: '/' })
  const written = { ...admin, publicUrl: 'https://gate.example.com' }
  assert.equal(adminUrlOf({ admin: written }, 'http://127.0.0.1:1'), 'https://gate.example.com')
  const elsewhere = { ...admin, listen: { host: '127.0.0.1', port: 4001 } }
  assert.equal(adminUrlOf({ admin: elsewhere }, 'http://127.0.0.1:1'), 'http://127.0.0.1:4001')
})
