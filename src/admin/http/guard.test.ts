// Which sites a browser's write may come from; who may call which route is tested in test/contract/admin-access.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError } from '../contract/errors.ts'
import { guard } from './guard.ts'

const HTTPS = 'https://tollgate.example.com'
const HTTP = 'http://127.0.0.1:4000'

for (const [what, publicUrl, origin, isTaken] of [
  ['the public address', HTTPS, HTTPS, true],
  ['another site', HTTPS, 'https://evil.example.com', false],
  // Anyone on the network can answer for it, and some browsers send the cookie along to HTTPS.
  ['the public host over plain HTTP', HTTPS, 'http://tollgate.example.com', false],
  ['a tunnel to the gateway itself', HTTPS, 'http://127.0.0.1:4000', true],
  ['another name of a gateway without HTTPS', HTTP, 'http://tollgate.lan:4000', true],
  ['a proxy with HTTPS that the configuration does not mention', HTTP, HTTPS, true],
] as const)
  test(`a write from ${what} is ${isTaken ? 'taken' : 'refused'}`, () => {
    const host = what === 'another site' ? 'tollgate.example.com' : new URL(origin).host
    const route = { method: 'POST', access: 'public' } as const
    const write = () => guard({ route, headers: { origin, host }, person: undefined }, publicUrl)
    if (isTaken) write()
    else
      assert.throws(write, (error) => error instanceof AdminError && error.code === 'wrong_origin')
  })
