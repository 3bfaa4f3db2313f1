// People are still let in when the database cannot be written: a full disk is when they need to look.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock as clock } from '../../core/clock.ts'
import { HOUR_MS } from '../../core/units.ts'
import { openStore } from '../../store/open.ts'
import { insertPerson, markJoined } from '../../store/people/people.ts'
import { insertAccessToken } from '../../store/people/tokens.ts'
import { personFinder, type PeopleParts } from './identity.ts'

test('people are identified even if the database cannot be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-person-'))
  const store = await openStore(`sqlite:${join(folder, 'tollgate.db')}`, { clock })
  const ann = { id: 'person_ann', email: 'ann@example.com', name: 'Ann', roleId: 'viewer' }
  await insertPerson(store.db, ann, clock.now())
  await markJoined(store.db, ann.id, clock.now())
  const token = { personId: ann.id, name: 'script', permissions: null }
  const expiresAt = clock.now() + HOUR_MS
  const { secret } = await insertAccessToken(store, store.db, { ...token, expiresAt })
  await sql`PRAGMA query_only = 1`.execute(store.db)

  const identify = personFinder({ store, inactiveDays: null } as PeopleParts)
  const headers = { authorization: `Bearer ${secret}` }
  const found = await identify({ headers, address: '127.0.0.1' })
  assert.equal(found?.email, ann.email)

  await store.close()
  rmSync(folder, { recursive: true })
})
