// A required second factor on a running gateway: days of grace, then nothing but one's own account until it is set up.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../src/core/clock.ts'
import { openStore } from '../../../src/store/open.ts'
import { appCode, Browser, tokenOf, type Answer } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshSqlite } from '../../support/store.ts'

const PASSWORD = 'a sentence that is long enough'
const DAY_MS = 86_400_000

describe('a second factor that managers must have', () => {
  let gateway: TestGateway
  let database: Awaited<ReturnType<typeof freshSqlite>>

  before(async () => {
    database = await freshSqlite()
    const config = 'people: { require_second_factor: managers }'
    gateway = await startGateway({ database: database.url, config })
  })
  after(async () => {
    await gateway.stop()
    await database.drop()
  })

  const done = ({ status, json }: Answer): Answer['json'] => {
    assert.ok(status < 300, JSON.stringify(json))
    return json
  }
  const reasonOf = ({ status, json }: Answer): unknown[] => [status, json.error?.reason]

  async function comeAs(email: string, role: string): Promise<Browser> {
    const made = await gateway.tollgate('users', 'create', '--email', email, '--role', role)
    const browser = new Browser(gateway.url)
    const use = { token: tokenOf(Object(made['link']).url), name: email, password: PASSWORD }
    done(await browser.post('/links/use', use))
    return browser
  }

  const dueOf = async (browser: Browser): Promise<string | null> =>
    done(await browser.get('/session')).person.second_factor_due_at

  async function setDue(email: string, at: number): Promise<void> {
    const store = await openStore(database.url, { clock: systemClock, purpose: 'change' })
    const due = { second_factor_due_at: at }
    await store.db.updateTable('people').set(due).where('email', '=', email).execute()
    await store.close()
  }

  async function setUp(browser: Browser): Promise<void> {
    const { uri } = done(await browser.post('/profile/two-factor', { password: PASSWORD }))
    done(await browser.post('/profile/two-factor/confirm', { code: appCode(uri) }))
  }

  test('there are seven days, then only the own account is open until it is set up', async () => {
    const ann = await comeAs('ann@example.com', 'Administrator')
    const due = Date.parse((await dueOf(ann)) ?? '')
    assert.ok(Math.abs(due - Date.now() - 7 * DAY_MS) < DAY_MS / 2, String(due))
    done(await ann.get('/keys'))
    await setDue('ann@example.com', Date.now() - 1)
    assert.deepEqual(reasonOf(await ann.get('/keys')), [403, 'second_factor_needed'])
    assert.deepEqual(reasonOf(await ann.post('/groups', { name: 'x' })), [
      403,
      'second_factor_needed',
    ])
    const { person } = done(await ann.get('/session'))
    assert.deepEqual([person.permissions, person.everywhere], [[], []])
    done(await ann.get('/profile'))
    await setUp(ann)
    assert.equal(await dueOf(ann), null)
    done(await ann.get('/keys'))
    // Switching it off again gives no further days.
    done(await ann.post('/profile/two-factor/end', { password: PASSWORD }))
    assert.deepEqual(reasonOf(await ann.get('/keys')), [403, 'second_factor_needed'])
    await setUp(ann)
  })

  test('a token may do no more than its person', async () => {
    const bob = await comeAs('bob@example.com', 'Manager')
    await dueOf(bob)
    const expires_at = new Date(Date.now() + DAY_MS).toISOString()
    const token = { name: 'script', expires_at, password: PASSWORD }
    const { secret } = done(await bob.post('/profile/tokens', token))
    const script = new Browser(gateway.url)
    const headers = { authorization: `Bearer ${secret}` }
    done(await script.get('/keys', headers))
    await setDue('bob@example.com', Date.now() - 1)
    assert.deepEqual(reasonOf(await script.get('/keys', headers)), [403, 'second_factor_needed'])
  })

  test('it is not required of those who only look, until they manage something', async () => {
    const eve = await comeAs('eve@example.com', 'Viewer')
    assert.equal(await dueOf(eve), null)
    await gateway.tollgate('groups', 'create', '--name', 'search')
    const add = ['groups', 'members', 'add', 'search', 'eve@example.com', '--role'] as const
    await gateway.tollgate(...add, 'Member')
    assert.equal(await dueOf(eve), null)
    await gateway.tollgate(...add, 'Manager')
    assert.notEqual(await dueOf(eve), null)
  })
})
