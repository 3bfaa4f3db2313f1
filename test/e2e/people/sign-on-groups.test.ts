// Groups at the single sign-on provider decide who belongs to which group here: at every sign-in, on a running gateway and
// with a real provider.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Browser, tokenOf, type Answer } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { signOnConfig, startOidcProvider, type OidcProvider } from '../../support/oidc.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { freshSqlite, type FreshDatabase } from '../../support/store.ts'

const config = (provider: OidcProvider) => `${signOnConfig(provider)}
people:
  single_sign_on:
    groups:
      claim: teams
      map:
        - { value: eng-search, group: search, role: Member }
        - { value: leads, group: search, role: Manager }
        - { value: eng-billing, group: billing, role: Member }
        - { value: admins, role: Administrator }
        - { value: lost, group: nowhere, role: Member }
`

describe('groups of the single sign-on provider on SQLite', () => signOnGroups(freshSqlite))
describe('groups of the single sign-on provider on PostgreSQL', () => signOnGroups(freshDatabase))

function signOnGroups(fresh: FreshDatabase): void {
  let database: Awaited<ReturnType<FreshDatabase>>
  let provider: OidcProvider
  let gateway: TestGateway
  let admin: Browser
  const groups = new Map<string, string>()

  before(async () => {
    provider = await startOidcProvider()
    database = await fresh()
    gateway = await startGateway({ database: database.url, config: config(provider) })
    const made = await gateway.tollgate(
      ...['users', 'create', '--email', 'ann@example.com', '--role', 'Administrator'],
    )
    admin = new Browser(gateway.url)
    const use = {
      token: tokenOf(Object(made['link']).url),
      name: 'Ann',
      password: 'long enough a sentence',
    }
    done(await admin.post('/links/use', use))
    for (const name of ['search', 'billing']) {
      const body = { name, key_rules: { self_service: true } }
      groups.set(name, String(done(await admin.post('/groups', body)).id))
    }
  })
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
    await database.drop()
  })

  const done = ({ status, json }: Answer): Answer['json'] => {
    assert.ok(status < 300, JSON.stringify(json))
    return json
  }

  /** Where the browser ends, and who is signed in then. */
  async function signOn(sub: string, teams: unknown, browser = new Browser(gateway.url)) {
    provider.person = { sub, email: `${sub}@example.com`, email_verified: true, name: sub, teams }
    const started = done(await browser.post('/sso/start'))
    const atProvider = await fetch(started.location, { redirect: 'manual' })
    const back = new URL(atProvider.headers.get('location') ?? '')
    const ended = await browser.get(back.pathname.replace('/admin/api/v1', '') + back.search)
    const { person } = done(await browser.get('/session'))
    return { browser, end: ended.headers.get('location'), person }
  }

  type Signed = Awaited<ReturnType<typeof signOn>>
  const rolesOf = ({ person }: Signed) => [
    person.role.name,
    ...person.groups.map((each: { name: string; role: { name: string } }) => [
      each.name,
      each.role.name,
    ]),
  ]

  test('who is named by a group comes without an invitation, and nobody else does', async () => {
    const stranger = await signOn('stranger', ['cooks'])
    assert.equal(stranger.end, '/sign-in?error=not_invited')
    const dev = await signOn('dev', ['cooks', 'eng-search'])
    assert.deepEqual([dev.end, ...rolesOf(dev)], ['/', 'Member', ['search', 'Member']])
    const body = {
      name: 'mine',
      group: groups.get('search'),
      models: ['sandbox-chat'],
      budget: '1',
    }
    assert.equal((await dev.browser.post('/keys', body)).status, 201)
    const { entries } = done(await admin.get('/audit?action=group.add_member'))
    assert.deepEqual(
      [entries[0].actor, entries[0].fields],
      ['single sign-on', [{ field: 'dev@example.com', before: null, after: 'Member' }]],
    )
  })

  test('what the claim no longer says goes with the next sign-in, except the keys', async () => {
    const moved = await signOn('dev', 'eng-billing')
    assert.deepEqual(rolesOf(moved), ['Member', ['billing', 'Member']])
    const raised = await signOn('dev', ['leads', 'eng-search', 'admins'])
    // Of two entries for one group, the first in the configuration counts.
    assert.deepEqual(rolesOf(raised), ['Administrator', ['search', 'Member']])
    const lowered = await signOn('dev', [])
    assert.deepEqual(rolesOf(lowered), ['Member'])
    const { keys } = done(await admin.get('/keys?search=mine'))
    assert.deepEqual([keys[0].status, keys[0].owner_person.email], ['active', 'dev@example.com'])
  })

  test('it is not edited by hand, and what was given by hand stays', async () => {
    const { person } = await signOn('hand', ['eng-search'])
    const path = `/groups/${groups.get('search')}/members/${person.id}`
    const remove = await admin.delete(path)
    assert.deepEqual([remove.status, remove.json.error.reason], [409, 'from_sign_on'])
    const put = await admin.send('PUT', path, { body: { role: 'Manager' } })
    assert.equal(put.json.error.reason, 'from_sign_on')
    const { members } = done(await admin.get(`/groups/${groups.get('search')}/members`))
    assert.equal(members.find(({ id }: { id: string }) => id === person.id).from_sign_on, true)
    const billing = `/groups/${groups.get('billing')}/members/${person.id}`
    done(await admin.send('PUT', billing, { body: { role: 'Manager' } }))
    const again = await signOn('hand', ['eng-billing', 'admins'])
    assert.deepEqual(rolesOf(again), ['Administrator', ['billing', 'Manager']])
    const change = await admin.patch(`/people/${person.id}`, { role: 'Viewer' })
    assert.equal(change.json.error.reason, 'from_sign_on')
    assert.deepEqual(rolesOf(await signOn('hand', [])), ['Member', ['billing', 'Manager']])
  })

  test('the last administrator does not go this way', async () => {
    const boss = await signOn('boss', ['admins'])
    const { id } = done(await admin.get('/session')).person
    done(await boss.browser.post(`/people/${id}/block`))
    assert.deepEqual(rolesOf(await signOn('boss', ['eng-search'])), [
      'Administrator',
      ['search', 'Member'],
    ])
    done(await boss.browser.post(`/people/${id}/unblock`))
    assert.deepEqual(rolesOf(await signOn('boss', [])), ['Member'])
    const credentials = { email: 'ann@example.com', password: 'long enough a sentence' }
    done(await admin.post('/session', credentials))
  })

  test('claims can be tried, and change nothing', async () => {
    const claims = { teams: ['leads', 'admins', 'cooks', 'lost'] }
    const given = done(await admin.post('/people/try-sign-on', { claims }))
    assert.deepEqual(given, {
      ...{ claim: 'teams', admitted: true, role: { id: 'administrator', name: 'Administrator' } },
      groups: [
        {
          group: { id: groups.get('search'), name: 'search' },
          role: { id: 'manager', name: 'Manager' },
        },
      ],
      ...{ unmatched: ['cooks'], unknown: ['nowhere'] },
    })
    const nothing = done(await admin.post('/people/try-sign-on', { claims: { teams: 7 } }))
    assert.deepEqual([nothing.admitted, nothing.role, nothing.groups], [false, null, []])
    const { browser } = await signOn('dev', ['eng-search'])
    assert.equal((await browser.post('/people/try-sign-on', { claims })).status, 403)
    const tried = await gateway.tollgate('users', 'try-sign-on', JSON.stringify(claims))
    assert.deepEqual(tried, given)
  })
}
