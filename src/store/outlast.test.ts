// A read is tried again while the database is away, for as long as a new request waits, and in no other case.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ThreadLost } from './outage.ts'
import { outlast } from './outlast.ts'

const AWAY = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** A database that answers after this many failures, and a clock on which every try takes a second. */
function database(failures: number, thrown: Error) {
  let tries = 0
  return {
    clock: { now: () => 0, monotonicMs: () => tries * 1_000 },
    tries: () => tries,
    read: async (): Promise<string> => {
      tries += 1
      if (tries <= failures) throw thrown
      return 'found'
    },
  }
}

for (const [what, failures, thrown, tries] of [
  ['a database that answers is read once', 0, AWAY, 1],
  ['a database that comes back is tried until then', 3, AWAY, 4],
  ['a database that stays away is given up after five seconds', 9, AWAY, 5],
  ['a lost thread is not waited for', 1, new ThreadLost('exit code 1'), 1],
  ['a faulty query is not tried again', 1, new TypeError('no such column'), 1],
] as const)
  test(what, async () => {
    const { clock, read, ...db } = database(failures, thrown)
    const found = outlast(clock, read)
    if (failures < tries) assert.equal(await found, 'found')
    else await assert.rejects(found, thrown)
    assert.equal(db.tries(), tries)
  })
