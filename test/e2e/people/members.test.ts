// Members of groups on a running gateway: invited from within a group, moved, taken out; and what becomes of the keys of
// those who leave.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Browser, tokenOf, type Answer } from '../../support/browser.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'

const PASSWORD = 'a sentence that is long enough'

describe('members of groups', () => {
  let gateway: TestGateway
  let admin: Browser
  /** Administers the group `search`, and nothing else. */
  let lead: Browser
  let search = ''
  let billing = ''

  before(async () => {
    gateway = await startGateway()
    admin = new Browser(gateway.url)
    const made = await gateway.tollgate(
      ...['users', 'create', '--email', 'ann@example.com', '--role', 'Administrator'],
    )
    await join(admin, Object(made['link']).url, 'Ann')
    search = await newGroup('search')
    billing = await newGroup('billing')
    lead = await invited(admin, search, 'lead@example.com', 'Administrator')
  })
  after(() => gateway.stop())

  const done = ({ status, json }: Answer): Answer['json'] => {
    assert.ok(status < 300, JSON.stringify(json))
    return json
  }
  const reasonOf = ({ status, json }: Answer): unknown[] => [status, json.error.reason]

  async function join(browser: Browser, link: unknown, name: string): Promise<void> {
    const use = { token: tokenOf(link), name, password: PASSWORD }
    done(await browser.post('/links/use', use))
  }

  async function newGroup(name: string): Promise<string> {
    const body = { name, key_rules: { self_service: true } }
    return String(done(await admin.post('/groups', body)).id)
  }

  async function invite(by: Browser, group: string, body: object): Promise<Answer['json']> {
    return done(await by.post(`/groups/${group}/members`, body))
  }

  /** Somebody who came by the link that inviting them into a group gave. */
  const invited = async (
    by: Browser,
    group: string,
    ...[email, role]: readonly [string, string]
  ): Promise<Browser> => {
    const { link, members } = await invite(by, group, { email, role })
    const { id } = members.find((each: { email: string }) => each.email === email)
    // Those who are confined to the group see no link.
    const { url } = link.url === null ? done(await admin.post(`/people/${id}/invite`)) : link
    const browser = new Browser(gateway.url)
    await join(browser, url, email)
    return browser
  }

  const newKey = async (by: Browser, group: string, name: string): Promise<string> => {
    const body = { name, group, models: ['sandbox-chat'], budget: '1' }
    return String(done(await by.post('/keys', body)).id)
  }
  const keyOf = async (id: string) => done(await admin.get(`/keys/${id}`))
  const idOf = async (browser: Browser): Promise<string> =>
    String(done(await browser.get('/session')).person.id)

  test('who is invited into a group holds rights there, and nowhere else', async () => {
    const dev = await invited(lead, search, 'dev@example.com', 'Member')
    const { person } = done(await dev.get('/session'))
    assert.deepEqual([person.role.name, person.everywhere], ['Member', []])
    assert.deepEqual(
      person.groups.map(({ name, role }: { name: string; role: { name: string } }) => [
        name,
        role.name,
      ]),
      [['search', 'Member']],
    )
    const { entries } = done(await lead.get('/audit?action=group.add_member'))
    assert.deepEqual(entries[0].fields, [
      { field: 'dev@example.com', before: null, after: 'Member' },
    ])
  })

  test('whoever is known already is a member at once, and needs no link', async () => {
    const known = { email: 'known@example.com', name: 'Known', role: 'viewer' }
    done(await admin.post('/people', known))
    const body = { email: 'Known@example.com', role: 'Member' }
    const { link, members } = await invite(admin, billing, body)
    assert.equal(link, null)
    assert.ok(members.some(({ email }: { email: string }) => email === 'known@example.com'))
  })

  test('from within a group nobody learns whether an address was known', async () => {
    const told = async (email: string) => {
      const { link, members } = await invite(lead, search, { email, role: 'Member' })
      const { id, added_at, ...member } = members.find(
        (each: { email: string }) => each.email === email,
      )
      assert.match(`${id} ${added_at}`, /^person_\w+ 20/)
      const { expires_at: expiry, ...sent } = link
      const days = Math.round((Date.parse(expiry) - Date.now()) / 86_400_000)
      return JSON.stringify([member, sent, days]).replaceAll(email, 'ADDRESS')
    }
    const [known, unknown] = [await told('known@example.com'), await told('unknown@example.com')]
    assert.equal(known, unknown)
    assert.match(known, /"mailed":false,"url":null/)
    const { entries } = done(await lead.get('/audit?action=person.invite'))
    assert.deepEqual(entries, [])
  })

  test('the command line invites into a group', async () => {
    const words = ['users', 'invite', '--email', 'new@example.com', '--role', 'Member']
    const made = await gateway.tollgate(...words, '--group', 'billing')
    assert.match(String(Object(made['link']).url), /\/invitation#/)
    assert.equal(Object(made['role']).name, 'Member')
    const { members } = done(await admin.get(`/groups/${billing}/members`))
    assert.ok(members.some(({ email }: { email: string }) => email === 'new@example.com'))
    await gateway.tollgate(
      'users',
      'invite',
      '--email',
      'new@example.com',
      '--role',
      'Viewer',
      '--group',
      'billing',
    )
    const after = done(await admin.get(`/groups/${billing}/members`)).members.find(
      ({ email }: { email: string }) => email === 'new@example.com',
    )
    assert.equal(after.role.name, 'Viewer')
  })

  test('nobody invites with more than they hold in the group, nor into another', async () => {
    done(await admin.post('/roles', { name: 'Recruiter', permissions: ['people:manage'] }))
    const recruiter = await invited(lead, search, 'recruiter@example.com', 'Recruiter')
    const body = { email: 'friend@example.com', role: 'Manager' }
    const refused = await recruiter.post(`/groups/${search}/members`, body)
    assert.deepEqual(reasonOf(refused), [403, 'permission_of_role'])
    assert.equal((await admin.get('/people')).json.people.length > 0, true)
    const { people } = done(await admin.get('/people'))
    assert.ok(!people.some(({ email }: { email: string }) => email === body.email))
    const elsewhere = await lead.post(`/groups/${billing}/members`, { ...body, role: 'Member' })
    assert.equal(elsewhere.status, 404)
  })

  test('nobody leaves a group before it is decided what becomes of their keys', async () => {
    const leaver = await invited(lead, search, 'leaver@example.com', 'Member')
    const heir = await invited(lead, search, 'heir@example.com', 'Member')
    const key = await newKey(leaver, search, 'left behind')
    const path = `/groups/${search}/members/leaver@example.com`
    assert.deepEqual(reasonOf(await lead.delete(path)), [409, 'keys_undecided'])
    assert.deepEqual(reasonOf(await lead.delete(`${path}?keys=give`)), [
      400,
      'keys_receiver_needed',
    ])
    const stranger = await lead.delete(`${path}?keys=give&to=ann@example.com`)
    assert.deepEqual(reasonOf(stranger), [400, 'person_unknown'])
    const recruiter = new Browser(gateway.url)
    const credentials = { email: 'recruiter@example.com', password: PASSWORD }
    done(await recruiter.post('/session', credentials))
    assert.deepEqual(reasonOf(await recruiter.delete(`${path}?keys=revoke`)), [
      403,
      'permission_missing',
    ])
    assert.equal((await keyOf(key)).status, 'active')
    done(await lead.delete(`${path}?keys=give&to=heir@example.com`))
    assert.equal((await keyOf(key)).owner_person.id, await idOf(heir))
    assert.equal((await leaver.get(`/keys/${key}`)).status, 403)
    assert.equal(done(await heir.get('/keys')).total, 1)
  })

  test('keys that were decided on one by one let their owner go', async () => {
    const leaver = await invited(lead, search, 'slow@example.com', 'Member')
    const [paused, revoked, own] = [
      await newKey(leaver, search, 'paused by a manager'),
      await newKey(leaver, search, 'revoked'),
      await newKey(leaver, search, 'paused by its owner'),
    ]
    done(await leaver.post(`/keys/${own}/pause`))
    done(await lead.post(`/keys/${paused}/pause`))
    done(await lead.post(`/keys/${revoked}/revoke`, { reason: 'over' }))
    const path = `/groups/${search}/members/slow@example.com`
    const refused = await lead.delete(path)
    assert.deepEqual(reasonOf(refused), [409, 'keys_undecided'])
    assert.match(refused.json.error.message, /1: paused by its owner\)/)
    done(await lead.delete(`${path}?keys=pause`))
    assert.equal((await keyOf(own)).paused_by, 'manager')
  })

  test('a member moves into another group, with their keys or without', async () => {
    const mover = await invited(admin, search, 'mover@example.com', 'Member')
    const key = await newKey(mover, search, 'carried')
    const path = `/groups/${search}/members/mover@example.com/move`
    const other = await lead.post(path, { group: billing, keys: 'take' })
    assert.equal(other.status, 404)
    assert.deepEqual(reasonOf(await admin.post(path, { group: billing })), [409, 'keys_undecided'])
    assert.equal(done(await mover.get('/session')).person.groups[0].id, search)
    done(await admin.post(path, { group: billing, keys: 'take' }))
    const { groups } = done(await mover.get('/session')).person
    assert.deepEqual(
      groups.map(({ id, role }: { id: string; role: { id: string } }) => [id, role.id]),
      [[billing, 'member']],
    )
    assert.equal((await keyOf(key)).group.id, billing)
    const back = `/groups/${billing}/members/mover@example.com/move`
    done(await admin.post(back, { group: search, role: 'Viewer', keys: 'revoke' }))
    assert.equal((await keyOf(key)).status, 'revoked')
  })

  test('nobody is removed before it is decided what becomes of their keys', async () => {
    const goner = await invited(admin, search, 'goner@example.com', 'Member')
    const key = await newKey(goner, search, 'orphan')
    const path = `/people/${await idOf(goner)}`
    assert.deepEqual(reasonOf(await admin.delete(path)), [409, 'keys_undecided'])
    done(await admin.delete(`${path}?keys=pause`))
    const { status, owner_person: owner } = await keyOf(key)
    assert.deepEqual([status, owner], ['paused', null])
    const refused = await gateway.tollgate('users', 'list')
    assert.ok(!JSON.stringify(refused).includes('goner@example.com'))
  })

  test('the command line moves and removes by the same rules', async () => {
    const person = await invited(admin, search, 'hand@example.com', 'Member')
    const key = await newKey(person, search, 'by hand')
    const members = ['groups', 'members'] as const
    await gateway.tollgate(
      ...members,
      'move',
      'search',
      'hand@example.com',
      'billing',
      '--keys',
      'take',
    )
    assert.equal((await keyOf(key)).group.id, billing)
    await gateway.tollgate(...members, 'remove', 'billing', 'hand@example.com', '--keys', 'pause')
    assert.equal((await keyOf(key)).paused_by, 'manager')
    await gateway.tollgate('users', 'remove', 'hand@example.com')
  })
})
