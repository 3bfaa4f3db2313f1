// Which errors are outages of the database, and which are about the request.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { StoreError } from './errors.ts'
import { isOutage } from './outage.ts'
import { ThreadLost } from './sqlite-thread.ts'

const error = (message: string, more: object = {}): Error => Object.assign(new Error(message), more)

const OUTAGES: Readonly<Record<string, Error>> = {
  'a lost SQLite thread': new ThreadLost('exit code 1'),
  'a full disk under SQLite': error('database or disk is full', { errcode: 13 }),
  'a write error under SQLite': error('disk I/O error', { errcode: 778 }),
  'nobody listens': error('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' }),
  'a connection that was reset': error('read ECONNRESET', { code: 'ECONNRESET' }),
  'a server that recovers': error('the database system is starting up', { code: '57P03' }),
  'a server that was told to stop': error('terminating connection', { code: '57P01' }),
  'a full disk under PostgreSQL': error('could not extend file', { code: '53100' }),
  'too many connections': error('sorry, too many clients already', { code: '53300' }),
  'two who waited for each other': error('deadlock detected', { code: '40P01' }),
  'a connection that broke under a query': error('Connection terminated unexpectedly'),
  'a pool that got no connection': error('timeout exceeded when trying to connect'),
  'a server that fell silent': error('Query read timeout'),
  'a database that could not be opened': new StoreError('unreachable', 'cannot be reached'),
}

const OTHERS: Readonly<Record<string, unknown>> = {
  'a constraint on SQLite': error('UNIQUE constraint failed', { errcode: 2067 }),
  'a constraint on PostgreSQL': error('duplicate key', { code: '23505' }),
  'a statement that makes no sense': error('syntax error', { code: '42601' }),
  'a fault of ours': new TypeError('undefined is not a function'),
  'a refusal': new StoreError('unknown_key', 'there is no such key'),
  'no error at all': 'ECONNREFUSED',
}

for (const [what, thrown] of Object.entries(OUTAGES))
  test(`${what} is an outage`, () => assert.equal(isOutage(thrown), true))
for (const [what, thrown] of Object.entries(OTHERS))
  test(`${what} is none`, () => assert.equal(isOutage(thrown), false))
