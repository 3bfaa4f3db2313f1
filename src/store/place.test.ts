// A database is named without what opens it, however its password is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describePlace } from './place.ts'

const PLACES: readonly (readonly [url: string, told: string])[] = [
  ['sqlite:data/tollgate.db', 'data/tollgate.db'],
  ['postgres://u@h/db', 'postgres://u@h/db'],
  ['postgres://u:p:ss@h:5433/db', 'postgres://u@h:5433/db'],
  ['postgres://u:p%40ss%2F@h/db', 'postgres://u@h/db'],
  ['postgresql://h/db?user=u&password=secret', 'postgres://u@h/db'],
  ['postgres://u:secret@h/db?sslpassword=secret&options=-c%20geqo%3Doff', 'postgres://u@h/db'],
  ['postgres://u:secret@/db?host=/run/postgresql', 'postgres://u@/run/postgresql/db'],
  ['postgres://u@h/100%', 'postgres://u@h/100%'],
  ['postgres:///db', 'postgres://localhost/db'],
  ['postgres://u:secret@[::1]:5432/db', 'postgres://u@[::1]:5432/db'],
]

for (const [url, told] of PLACES) {
  test(`${url} is ${told}`, () => assert.equal(describePlace(url), told))
}

for (const url of ['postgres://u:12/secret@h/db', 'postgres://u:secret/more@h/db']) {
  test(`${url} is none`, () => {
    assert.throws(
      () => describePlace(url),
      (error: Error) => !error.message.includes('secret') && error.cause === undefined,
    )
  })
}
