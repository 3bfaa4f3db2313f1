// Somebody who no longer signs in, on a running gateway: their tokens rest until they do, and their keys go on working.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import { Browser, tokenOf } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshSqlite } from '../../support/store.ts'

const PASSWORD = 'a sentence that is long enough'
const DAY_MS = 86_400_000

describe('somebody who no longer signs in', () => {
  let gateway: TestGateway
  let database: Awaited<ReturnType<typeof freshSqlite>>

  before(async () => {
    database = await freshSqlite()
    gateway = await startGateway({
      database: database.url,
      config: 'people: { inactive_days: 30 }',
    })
  })
  after(async () => {
    await gateway.stop()
    await database.drop()
  })

  const lastSeen = async (daysAgo: number): Promise<void> => {
    const store = await openStore(database.url, { clock: systemClock, purpose: 'change' })
    const seen = { last_seen_at: Date.now() - daysAgo * DAY_MS }
    await store.db.updateTable('people').set(seen).execute()
    await store.close()
  }

  test('has tokens that rest until the next sign-in, which their calls do not count as', async () => {
    const words = ['--email', 'ann@example.com', '--role', 'Administrator']
    const made = await gateway.tollgate('users', 'create', ...words)
    const ann = new Browser(gateway.url)
    const use = { token: tokenOf(Object(made['link']).url), name: 'Ann', password: PASSWORD }
    assert.equal((await ann.post('/links/use', use)).status, 200)
    const expires_at = new Date(Date.now() + 90 * DAY_MS).toISOString()
    const token = { name: 'nightly report', expires_at, permissions: null, password: PASSWORD }
    const { secret } = (await ann.post('/profile/tokens', token)).json
    const call = async (): Promise<readonly [number, string]> => {
      const headers = { authorization: `Bearer ${secret}` }
      const response = await fetch(`${gateway.url}/admin/api/v1/people`, { headers })
      return [response.status, await response.text()]
    }
    await lastSeen(29)
    const [status, text] = await call()
    assert.equal(status, 200, text)
    assert.match(text, /"inactive_days":30/)
    await lastSeen(31)
    const [refused, why] = await call()
    assert.deepEqual([refused, /person_inactive/.test(why)], [401, true], why)
    assert.equal((await ann.get('/keys')).status, 200)
    assert.equal((await call())[0], 200)
  })
})
