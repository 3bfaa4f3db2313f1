// A database is described without its password, however that is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDatabaseUrl, isDatabaseUrl } from './url.ts'

const PLACES: readonly (readonly [url: string, told: string])[] = [
  ['sqlite:data/tollgate.db', 'data/tollgate.db'],
  ['postgres://u@h/db', 'postgres://u@h/db'],
  ['postgres:///db', 'postgres://localhost/db'],
  ['postgres://u@h/100%', 'postgres://u@h/100%'],
  ['postgres://me%40tenant@h/db', 'postgres://me@tenant@h/db'],
  ['postgres://u:secret@[::1]:5432/db', 'postgres://u@[::1]:5432/db'],
  ['postgres://u:secret@/db?host=/run/postgresql', 'postgres://u@/run/postgresql/db'],
  ['postgres://u@h:1/db?host=&port=&user=', 'postgres://u@h:1/db'],
  ['postgres://u:secret@h,h2/db', 'postgres://u@h,h2/db'],
  // Passwords, as people write them.
  ['postgres://:secret@h/db', 'postgres://h/db'],
  ['postgres://u:p:ss@h:5433/db', 'postgres://u@h:5433/db'],
  ['postgres://u:p@ss@h/db', 'postgres://u@h/db'],
  ['postgres://u:p ss\\[|]<>^`@h/db', 'postgres://u@h/db'],
  ['postgres://u:100%@h/db', 'postgres://u@h/db'],
  ['postgres://u:c2VjcmV0==@h/db', 'postgres://u@h/db'],
  ['postgres://u:p%40ss%2F%3F%23@h/db', 'postgres://u@h/db'],
  // Passwords elsewhere.
  ['postgresql://h/db?user=u&password=secret', 'postgres://u@h/db'],
  ['postgres://h/db?user=u&password=sec%40ret%26', 'postgres://u@h/db'],
  ['postgres://u:old@h/db?password=secret&port=6432', 'postgres://u@h:6432/db'],
  ['postgres://u:secret@h/db?sslpassword=secret&options=-c%20geqo%3Doff', 'postgres://u@h/db'],
]

for (const [url, told] of PLACES) {
  test(`${url} is described as ${told}`, () => {
    assert.equal(describeDatabaseUrl(url), told)
    assert.ok(isDatabaseUrl(url))
  })
}

/** Taken for an address, each of these would show its password as a host, a port, a user or a name. */
const NONE: readonly string[] = [
  'postgres://u:12/secret@h/db',
  'postgres://u:12?secret@h/db',
  'postgres://u:12?a=secret@h/db',
  'postgres://u:12#secret@h/db',
  'postgres://u:secret/more@h/db',
  'postgres://u:more@secret/more@h/db',
  'postgres://u:more@secret?more@h/db',
  'postgres://u:more@secret#more@h/db',
  'postgres://u:more@/secret@h/db',
  'postgres:///u:secret@h/db',
  'postgres://postgres://u:secret@h/db',
  'postgres://h/db&password=secret',
  'postgres://h/db;password=secret',
  'postgres://h/db password=secret',
  'postgres://h;password=secret/db',
  'postgres://u;password=secret@h/db',
  'postgres://h/db?user=u;password=secret',
  'host=h user=u password=secret',
]

for (const url of NONE) {
  test(`${url} is refused`, () => {
    assert.ok(!isDatabaseUrl(url))
    assert.throws(
      () => describeDatabaseUrl(url),
      (error: Error) => !/secret|12/.test(error.message) && error.cause === undefined,
    )
  })
}
