// Which errors are outages of the database, and which are about the request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from './errors.ts'
import { isOutage, retryDuringOutage, ThreadLost } from './outage.ts'

const error = (message: string, more: object = {}): Error => Object.assign(new Error(message), more)

const OUTAGES: Readonly<Record<string, Error>> = {
  'a lost SQLite thread': new ThreadLost('exit code 1'),
  'a full disk under SQLite': error('database or disk is full', { errcode: 13 }),
  'a write error under SQLite': error('disk I/O error', { errcode: 778 }),
  'a server that is not listening': error('connect ECONNREFUSED 127.0.0.1:5432', {
    code: 'ECONNREFUSED',
  }),
  'a reset connection': error('read ECONNRESET', { code: 'ECONNRESET' }),
  'a server that is starting up': error('the database system is starting up', { code: '57P03' }),
  'a server that is shutting down': error('terminating connection', { code: '57P01' }),
  'a full disk under PostgreSQL': error('could not extend file', { code: '53100' }),
  'too many connections': error('sorry, too many clients already', { code: '53300' }),
  'a deadlock': error('deadlock detected', { code: '40P01' }),
  'a connection that broke under a query': error('Connection terminated unexpectedly'),
  'a pool that got no connection': error('timeout exceeded when trying to connect'),
  'a server that fell silent': error('Query read timeout'),
  'a database that could not be opened': new StoreError('unreachable', 'cannot be reached'),
}

const OTHERS: Readonly<Record<string, unknown>> = {
  'a constraint on SQLite': error('UNIQUE constraint failed', { errcode: 2067 }),
  'a constraint on PostgreSQL': error('duplicate key', { code: '23505' }),
  'a statement with a syntax error': error('syntax error', { code: '42601' }),
  'a fault of ours': new TypeError('undefined is not a function'),
  'a refusal': new StoreError('unknown_key', 'there is no such key'),
  'a value that is no error': 'ECONNREFUSED',
}

for (const [what, thrown] of Object.entries(OUTAGES))
  test(`${what} is an outage`, () => assert.equal(isOutage(thrown), true))
for (const [what, thrown] of Object.entries(OTHERS))
  test(`${what} is not an outage`, () => assert.equal(isOutage(thrown), false))

// A read is tried again while the database is away, for as long as a new request waits, and in no other case.

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
    const found = retryDuringOutage(clock, read)
    if (failures < tries) assert.equal(await found, 'found')
    else await assert.rejects(found, thrown)
    assert.equal(db.tries(), tries)
  })
