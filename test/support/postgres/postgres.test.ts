// The tests' own PostgreSQL: each file gets a database that no other sees, and that is gone afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { freshDatabase } from './postgres.ts'

test('two databases do not see each other, and a dropped one is gone', async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()])
  const client = new pg.Client({ connectionString: one.url })
  await client.connect()
  await client.query('create table here (id int)')
  await client.end()
  const stranger = new pg.Client({ connectionString: other.url })
  await stranger.connect()
  await assert.rejects(stranger.query('select * from here'), { code: '42P01' })
  await stranger.end()
  await Promise.all([one.drop(), other.drop()])
  await assert.rejects(new pg.Client({ connectionString: one.url }).connect(), { code: '3D000' })
})
