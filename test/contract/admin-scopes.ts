// Roles within groups: three groups with every role, each against every route, with the things of the own group and with
// those of another. Whoever is confined to a group learns nothing of another, and nothing of the frame. Run by
// test/contract/admin-rights.test.ts on both databases.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { contract } from '../../src/admin/contract/contract.ts'
import { BUILT_IN_ROLES } from '../../src/admin/contract/permissions.ts'
import type { AdminRoute as Route } from '../../src/admin/contract/route.ts'
import { guard, type Person } from '../../src/admin/http/guard.ts'
import { AdminError } from '../../src/admin/contract/errors.ts'
import { adminHandlers } from '../../src/admin/open.ts'
import { rightsOf } from '../../src/admin/people/identity.ts'
import { newId } from '../../src/core/ids.ts'
import { findPerson, insertPerson, insertRole } from '../../src/store/people/people.ts'
import { eventsIn, openTestAdmin } from '../support/admin.ts'
import type { Answer, Asked, TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

/** What is reached from within a group, restated beside the routes that say so themselves. */
const OWN = [
  ...[
    'listKeys',
    'listLabels',
    'exportKeys',
    'createKey',
    'changeKeys',
    'readKey',
    'findKey',
    'changeKey',
    'pauseKey',
  ],
  ...['resumeKey', 'revokeKey', 'rotateKey', 'endOverlap', 'testKey', 'readLimits', 'listModels'],
  ...['readUsage', 'exportUsage', 'readKeyUsage', 'listRequests', 'readRequest', 'listKeyRequests'],
  ...['listRefusals', 'listKeyRefusals', 'readKeyAlerts', 'changeKeyAlerts', 'play'],
  ...['listWishes', 'addWish', 'withdrawWish'],
]
const WITHIN = [
  ...OWN,
  ...['resetKey', 'topUpKey', 'listGroups', 'readGroup', 'changeGroup'],
  ...['listDestinations', 'listDeliveries'],
  ...[
    'readStatement',
    'exportStatement',
    'listMembers',
    'putMember',
    'removeMember',
    'listAudit',
    'exportAudit',
    'listKeyActivity',
    'grantWish',
    'declineWish',
    'inviteMember',
    'moveMember',
  ],
]

const COLORS = ['red', 'green', 'blue'] as const
type Color = (typeof COLORS)[number]
const ROLES = [...BUILT_IN_ROLES.map(({ name }) => name), 'Member', 'Auditor'] as const
const AUDITOR = ['audit:read', 'requests:read'] as const

type Team = {
  readonly id: string
  /** By role. */
  readonly people: ReadonlyMap<string, string>
  /** Of the member, and of nobody. */
  readonly own: string
  readonly other: string
  /** Of `own`, open. */
  readonly wish: string
  /** Of `own` and of `other`. */
  readonly requests: readonly string[]
}

/** This one, in UTC. */
const MONTH = new Date().toISOString().slice(0, 7)

const routes = Object.entries(contract) as readonly (readonly [string, Route])[]
const FRAME = { budget: '7654.321', limit: '7654.321' }

export function adminScopesContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  const teams = new Map<Color, Team>()
  const teamOf = (color: Color): Team => {
    const team = teams.get(color)
    assert.ok(team)
    return team
  }
  const call = async (method: string, path: string, asked: Asked = {}): Promise<Answer> => {
    const headers = { 'if-match': '"1"' }
    return admin.call(method, path, { headers, ...asked })
  }
  const done = async (answer: Promise<Answer>): Promise<Record<string, never>> => {
    const { status, text, body } = await answer
    assert.ok(status < 300, text)
    return body
  }

  before(async () => {
    admin = await openTestAdmin(fresh)
    const auditor = { name: 'Auditor', permissions: AUDITOR }
    const auditorId = await insertRole(admin.store, admin.store.db, auditor)
    await done(call('PUT', '/frame', { body: { budget: FRAME.budget } }))
    await done(
      call('POST', '/alerts/destinations', {
        body: { kind: 'email', name: 'everyone', to: 'all@example.com' },
      }),
    )
    for (const color of COLORS) teams.set(color, await newTeam(color, auditorId))
    await admin.refusals.flush()
  })
  after(() => admin[Symbol.asyncDispose]())

  async function newTeam(color: Color, auditorId: string): Promise<Team> {
    const body = { name: `${color} team`, budget: '50', key_rules: { self_service: true } }
    const id = String((await done(call('POST', '/groups', { body })))['id'])
    const people = new Map<string, string>()
    for (const role of ROLES) {
      const personId = await newPerson(`${color}-${role.toLowerCase()}@example.com`)
      const named = role === 'Auditor' ? auditorId : role
      await done(call('PUT', `/groups/${id}/members/${personId}`, { body: { role: named } }))
      people.set(role, personId)
    }
    const ownerPerson = people.get('Member')
    const own = await newKey(`${color} own`, { group: id, owner_person: ownerPerson })
    const other = await newKey('shared name', { group: id, owner: `${color} owner` })
    const requests = []
    for (const key of [own, other]) {
      requests.push(
        String((await done(call('POST', `/keys/${key}/test`, { body: {} })))['request_id']),
      )
      await refused(key)
      await done(call('POST', `/keys/${key}/top-up`, { body: { amount: '1', reason: color } }))
      await giveAlert(key, id, `${color} alert`)
    }
    await done(
      call('POST', '/alerts/destinations', {
        body: {
          ...{ kind: 'email', name: `${color} destination`, to: `${color}@example.com` },
          groups: [id],
        },
      }),
    )
    const asking = { body: { budget: '6', reason: `${color} reason` }, person: ownerPerson }
    const wish = String((await done(call('POST', `/keys/${own}/wishes`, asking)))['id'])
    return { id, people, own, other, wish, requests }
  }

  async function newPerson(email: string): Promise<string> {
    const { store } = admin
    const id = newId('person', store.clock)
    await insertPerson(store.db, { id, email, name: email, roleId: 'member' }, store.clock.now())
    await store.db.updateTable('people').set({ joined_at: 1 }).where('id', '=', id).execute()
    return id
  }

  async function newKey(name: string, more: object): Promise<string> {
    const body = { name, models: ['sandbox-chat'], budget: '5', ...more }
    return String((await done(call('POST', '/keys', { body })))['id'])
  }

  /** Turned away, and on record. */
  async function refused(key: string): Promise<void> {
    const messages = [{ role: 'user', content: 'hello' }]
    const body = { key, model: 'not-allowed', messages }
    const { text } = await call('POST', '/playground', { body })
    assert.equal(eventsIn(text).at(-1)?.['passes'], false)
  }

  async function giveAlert(accountId: string, groupId: string, name: string): Promise<void> {
    const { db, clock } = admin.store
    const id = newId('alert', clock)
    const figures = { period_seq: 1, threshold: 50, spent_nanodollars: 1n, limit_nanodollars: 2n }
    const alert = { id, account_id: accountId, account_name: name, kind: 'budget' as const }
    await db
      .insertInto('alerts')
      .values({ ...alert, ...figures, created_at: clock.now(), group_id: groupId })
      .execute()
    await db
      .insertInto('alert_deliveries')
      .values({
        ...{
          id: newId('dlv', clock),
          alert_id: id,
          destination_id: 'd',
          address: 'all@example.com',
        },
        ...{ state: 'delivered', attempt_count: 1 },
      })
      .execute()
  }

  /** Whether the guard is to let a role pass that is held within a group. */
  const isWithin = (name: string, route: Route, role: string): boolean => {
    const { access } = route
    if (access === 'public' || access === 'signed-in') return true
    if (role === 'Member') return OWN.includes(name)
    const permissions =
      role === 'Auditor'
        ? AUDITOR
        : (BUILT_IN_ROLES.find((each) => each.name === role)?.permissions ?? [])
    return WITHIN.includes(name) && permissions.some((each) => each === access)
  }

  describe('every route × every role × everywhere and within a group', () => {
    for (const role of ROLES)
      test(`the guard decides for ${role} as the tables above say`, async () => {
        const id = teamOf('red').people.get(role) ?? ''
        const stored = await findPerson(admin.store.db, { id })
        assert.ok(stored)
        const rights = await rightsOf(admin.store.db, stored)
        const within: Person = { ...rights, id, email: '', name: '', via: 'token' }
        const [group] = rights.groups
        const everywhere = { ...within, groups: [], permissions: group?.permissions ?? new Set() }
        for (const [name, route] of routes) {
          const { access } = route
          const isFree = access === 'public' || access === 'signed-in'
          const held = isFree || everywhere.permissions.has(access)
          assert.equal(passes(route, everywhere), held, `${name} everywhere`)
          assert.equal(passes(route, within), isWithin(name, route, role), `${name} within`)
        }
      })

    test('a route that reaches into groups is one of those above', () => {
      const reaching = routes.filter(([, { reach }]) => reach === 'own' || reach === 'groups')
      assert.deepEqual(reaching.map(([name]) => name).toSorted(), WITHIN.toSorted())
      const own = routes.filter(([, { reach }]) => reach === 'own')
      assert.deepEqual(own.map(([name]) => name).toSorted(), OWN.toSorted())
    })

    test('without self-service, members reach nothing', async () => {
      const { id, people, own } = teamOf('blue')
      const member = { person: people.get('Member') }
      assert.equal((await call('GET', `/keys/${own}`, member)).status, 200)
      const version = (await call('GET', `/groups/${id}`)).body['version']
      const headers = { 'if-match': `"${version}"` }
      const off = { key_rules: { self_service: false } }
      await done(call('PATCH', `/groups/${id}`, { body: off, headers }))
      assert.equal((await call('GET', `/keys/${own}`, member)).status, 403)
      assert.equal((await call('GET', '/keys', member)).status, 403)
      const on = { key_rules: { self_service: true } }
      const again = { 'if-match': `"${Number(version) + 1}"` }
      await done(call('PATCH', `/groups/${id}`, { body: on, headers: again }))
    })
  })

  /** Bodies that are taken, for those writes that reach into groups. */
  const bodies = (team: Team): Readonly<Record<string, unknown>> => ({
    // Its name is taken there.
    createKey: { name: 'shared name', models: [], budget: '1', group: team.id },
    changeKeys: { ids: [team.own], change: { action: 'pause' } },
    changeKey: { description: 'changed' },
    revokeKey: { reason: 'a test' },
    rotateKey: {},
    resetKey: { reason: 'a test' },
    topUpKey: { amount: '1', reason: 'a test' },
    testKey: {},
    changeGroup: { description: 'changed' },
    putMember: { role: 'Member' },
    moveMember: { group: team.id, keys: 'revoke' },
    changeKeyAlerts: { thresholds: [50] },
    addWish: { budget: '9', reason: 'a test' },
    grantWish: {},
    declineWish: { reason: 'a test' },
    play: { key: team.own, model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }] },
  })
  const pathOf = (route: Route, team: Team): string => {
    const { people, own, requests } = team
    const subjects = { groups: team.id, requests: requests[0] ?? '', wishes: team.wish }
    const [, first = ''] = route.path.split('/')
    const subject = Object.entries(subjects).find(([name]) => name === first)?.[1] ?? own
    const path = route.path.replace(':id', subject).replace(':person', people.get('Member') ?? '')
    if (path === '/key') return `${path}?name=${own}`
    return path.startsWith('/statement') ? `${path}?group=${team.id}&month=${MONTH}` : path
  }
  const served = routes.filter(([name]) => name in adminHandlers(NO_PARTS))
  const figures = async (team: Team): Promise<unknown> => [
    { ...(await call('GET', `/keys/${team.own}`)).body, ...AT_THE_MOMENT },
    { ...(await call('GET', `/groups/${team.id}`)).body, ...AT_THE_MOMENT },
    (await call('GET', `/groups/${team.id}/members`)).body,
    (await call('GET', '/wishes')).body,
  ]

  describe('what belongs to another group does not exist', () => {
    let beforehand: unknown
    before(async () => void (beforehand = await figures(teamOf('green'))))
    for (const [name, route] of served) {
      const { method, access, body } = route
      if (access === 'public' || access === 'signed-in') continue
      test(`${name}: ${method} ${route.path}`, async () => {
        const [red, green] = [teamOf('red'), teamOf('green')]
        for (const role of ROLES) {
          const person = red.people.get(role)
          const isAllowed = isWithin(name, route, role)
          const needed = bodies(green)[name]
          if (isAllowed && body !== undefined) assert.ok(needed, 'the test needs a body for it')
          const sent = body === undefined ? {} : { body: needed ?? { wrong: 1 } }
          const answer = await call(method, pathOf(route, green), { person, ...sent })
          const expected = !isAllowed ? 403 : elsewhere(name, route)
          assert.equal(answer.status, expected, `${role}: ${answer.text}`)
          assertSilent(answer.text, red)
          if (expected === 404) {
            const unknown = await call(method, pathOf(route, nowhere()), {
              person,
              ...(body === undefined ? {} : { body: bodies(nowhere())[name] }),
            })
            assert.deepEqual(told(unknown), told(answer))
          }
        }
        assert.deepEqual(await figures(green), beforehand)
      })
    }
  })

  /** The answer to a permitted call that names something of another group. */
  const elsewhere = (name: string, { path }: Route): number => {
    // Its group is a setting of the new key.
    if (name === 'createKey') return 400
    // Each key succeeds or fails on its own.
    if (name === 'changeKeys') return 200
    const isNamed = path.includes(':id') || path === '/key' || path.startsWith('/statement')
    return isNamed || name === 'play' ? 404 : 200
  }
  const nowhere = (): Team => {
    const { clock } = admin.store
    const person = newId('person', clock)
    return {
      id: newId('grp', clock),
      people: new Map([['Member', person]]),
      ...{ own: newId('key', clock), other: '', requests: [newId('req', clock)] },
      wish: newId('wish', clock),
    }
  }
  /** An error without what the caller wrote. */
  const told = ({ status, body }: Answer): unknown => {
    const { code, reason, field } = (body['error'] ?? {}) as Record<string, unknown>
    return { status, code, reason, field }
  }

  /** No word of another group, and no figure of the frame. */
  function assertSilent(text: string, own: Team): void {
    for (const [color, team] of teams) {
      if (team.id === own.id) continue
      for (const secret of [color, team.other, ...team.requests.slice(1)])
        assert.ok(!text.includes(secret), `${secret} in ${text}`)
    }
    assert.ok(!text.includes(FRAME.budget), text)
    assert.ok(!/"frame_(share|binds)":[^n]/.test(text), text)
  }

  const LISTS = [
    '/export',
    ...['/keys', '/keys?sort=cost_7d', '/keys?sort=share', '/keys?search=green', '/keys.csv'],
    '/labels',
    ...['/keys?group=GREEN', '/keys?group=none', '/models', '/groups', '/groups/RED/members'],
    ...['/usage?by=key,model', '/usage?by=day', '/usage?by=provider,key', '/usage?key=KEY'],
    ...['/usage.csv?by=key', '/usage?by=hour&compare=previous', '/requests', '/requests?key=KEY'],
    ...['/refusals', '/refusals?key=KEY', '/audit', '/audit.csv', '/audit?subject=frame'],
    ...['/audit?subject_id=KEY', '/audit?subject_id=GREEN', '/audit?outcome=refused'],
    ...['/alerts/deliveries', '/key?name=OWN', '/keys/OWN', '/keys/OWN/limits', '/keys/OWN/usage'],
    ...['/keys/OWN/requests', '/keys/OWN/refusals', '/keys/OWN/activity', '/keys/OWN/alerts'],
    ...[`/statement.csv?group=RED&month=${MONTH}`, `/statement.html?group=RED&month=${MONTH}`],
    ...['/own/groups', '/wishes', '/wishes?state=open', '/wishes?state=decided'],
    ...['/groups/RED', '/requests/OWNREQUEST', '/frame', '/frame/alerts', '/alerts/destinations'],
  ]

  describe('lists, searches, counts, sums and exports', () => {
    const read = async (path: string, person: string | undefined): Promise<Answer> => {
      const [red, green] = [teamOf('red'), teamOf('green')]
      const named = path
        .replace('GREEN', green.id)
        .replace('RED', red.id)
        .replace('KEY', green.own)
        .replace('OWNREQUEST', red.requests[0] ?? '')
        .replace('OWN', red.own)
      return call('GET', named, { person })
    }

    test('every route that only reads is among them', () => {
      const shapes = LISTS.map((path) =>
        path.replace(/\?.*/, '').replace(/\/(OWN|RED|OWNREQUEST)(?=\/|$)/, '/:id'),
      )
      const reads = served
        .filter(([, { method, access }]) => method === 'GET' && access.includes(':'))
        .map(([, { path }]) => path)
      assert.deepEqual(
        reads.filter((path) => !shapes.includes(path)),
        [],
      )
    })

    for (const path of LISTS)
      test(`${path} tells those in one group nothing of another`, async () => {
        for (const role of ROLES) {
          const { text, status } = await read(path, teamOf('red').people.get(role))
          assert.ok([200, 403, 404].includes(status), text)
          assertSilent(text, teamOf('red'))
        }
        // To those who are not confined there is something to tell.
        assert.equal((await read(path, undefined)).status, 200)
      })

    test('keys, figures and sums are those of the own group, or of the own keys', async () => {
      for (const [role, keys] of [
        ['Manager', 2],
        ['Member', 1],
      ] as const) {
        const person = teamOf('red').people.get(role)
        const list = (await read('/keys', person)).body as unknown as List
        assert.deepEqual([list.total, list.counts.all, list.keys.length], [keys, keys, keys])
        assert.deepEqual([list.frame, list.frame_state], [null, 'has_room'])
        for (const by of ['day', 'key', 'provider', 'model,hour']) {
          const usage = (await read(`/usage?by=${by}`, person)).body as unknown as Usage
          const { requests, refused } = usage.total
          // A report from rows leaves out what was refused.
          assert.deepEqual([requests - refused, usage.rows.length > 0], [keys, true], by)
        }
        const models = (await read('/models', person)).body as unknown as Models
        const chat = models.models.find(({ id }) => id === 'sandbox-chat')
        assert.equal(chat?.key_count, keys)
        const { requests } = (await read('/requests', person)).body as unknown as Requests
        assert.equal(requests.length, keys)
      }
    })

    test('a key that was moved leaves its past behind', async () => {
      const [red, green] = [teamOf('red'), teamOf('green')]
      const moved = await newKey('green wanderer', { group: green.id, description: 'green past' })
      const first = String(
        (await done(call('POST', `/keys/${moved}/test`, { body: {} })))['request_id'],
      )
      await refused(moved)
      await admin.refusals.flush()
      const change = (body: object, version: number) =>
        done(call('PATCH', `/keys/${moved}`, { body, headers: { 'if-match': `"${version}"` } }))
      await change({ description: 'a new one' }, 1)
      await change({ group: red.id, name: 'scarlet' }, 2)
      const person = red.people.get('Manager')
      for (const path of ['', '/usage', '/requests', '/refusals', '/activity', '/limits']) {
        const answer = await call('GET', `/keys/${moved}${path}`, { person })
        assert.equal(answer.status, 200, answer.text)
        assertSilent(answer.text, red)
        assert.ok(!answer.text.includes(first))
      }
      const late = await call('PATCH', `/keys/${moved}`, { body: { name: 'x' }, person })
      assert.equal(late.status, 412)
      assertSilent(late.text, red)
      const behind = { person: green.people.get('Manager') }
      assert.equal((await call('GET', `/keys/${moved}`, behind)).status, 404)
      const stayed = await call('GET', '/requests', behind)
      assert.ok(stayed.text.includes(first))
      for (const path of ['/requests', '/usage?by=key', '/refusals', '/audit'])
        assert.ok(!(await call('GET', path, behind)).text.includes('scarlet'), path)
      await done(call('POST', `/keys/${moved}/revoke`, { body: { reason: 'a test' } }))
    })
  })

  describe('changes from within a group', () => {
    const red = (role: string): Asked => ({ person: teamOf('red').people.get(role) })

    test('a manager makes keys only there, and gives them to its people', async () => {
      const body = { name: 'by manager', models: [], budget: null }
      const outside = await call('POST', '/keys', { body, ...red('Manager') })
      assert.deepEqual([outside.status, outside.body['error']?.['field']], [400, 'group'])
      const inside = { ...body, group: teamOf('red').id }
      const stranger = teamOf('green').people.get('Member')
      const given = { ...inside, owner_person: stranger }
      const refusal = await call('POST', '/keys', { body: given, ...red('Manager') })
      assert.deepEqual([refusal.status, refusal.body['error']?.['field']], [400, 'owner_person'])
      const own = { ...inside, owner_person: teamOf('red').people.get('Viewer') }
      const made = await call('POST', '/keys', { body: own, ...red('Manager') })
      assert.equal(made.status, 201, made.text)
      const id = String(made.body['id'])
      const out = { body: { group: null }, ...red('Manager') }
      assert.equal((await call('PATCH', `/keys/${id}`, out)).status, 400)
      const into = { body: { group: teamOf('green').id }, ...red('Manager') }
      assert.equal((await call('PATCH', `/keys/${id}`, into)).status, 400)
      await done(call('POST', `/keys/${id}/revoke`, { body: { reason: 'a test' } }))
    })

    test('what bounds the group as a whole is not changed from within', async () => {
      const { id } = teamOf('red')
      const version = (await call('GET', `/groups/${id}`)).body['version']
      const headers = { 'if-match': `"${version}"` }
      for (const body of [{ budget: '99' }, { name: 'green' }, { models: null }, { rpm: null }]) {
        const answer = await call('PATCH', `/groups/${id}`, { body, headers, ...red('Manager') })
        assert.equal(answer.status, 403, answer.text)
      }
      const body = { description: 'ours', key_rules: { keys_max: 9 } }
      await done(call('PATCH', `/groups/${id}`, { body, headers, ...red('Manager') }))
    })

    test('nobody gives or takes a role that they do not hold themselves', async () => {
      const { id, people } = teamOf('red')
      const path = (role: string) => `/groups/${id}/members/${people.get(role)}`
      const put = (role: string, to: string) =>
        call('PUT', path(role), { body: { role: to }, ...red('Administrator') })
      await done(put('Viewer', 'Manager'))
      await done(put('Viewer', 'Viewer'))
      const lead = { name: 'Lead', permissions: ['people:manage', 'configuration:read'] as const }
      const leadId = await insertRole(admin.store, admin.store.db, lead)
      const leader = await newPerson('red-lead@example.com')
      await done(call('PUT', `/groups/${id}/members/${leader}`, { body: { role: leadId } }))
      const by = { person: leader }
      const raise = await call('PUT', path('Viewer'), { body: { role: 'Manager' }, ...by })
      assert.equal(raise.status, 403, raise.text)
      assert.equal((await call('DELETE', path('Administrator'), by)).status, 403)
      const stranger = teamOf('green').people.get('Viewer')
      const body = { role: 'Member' }
      const unknown = await call('PUT', `/groups/${id}/members/${stranger}`, { body, ...by })
      assert.equal(unknown.status, 404)
      await done(call('DELETE', `/groups/${id}/members/${leader}`))
    })
  })

  describe('keys of members', () => {
    test('they are made, changed and counted within the rules, and belong to who made them', async () => {
      const { id, people } = teamOf('blue')
      const member = { person: people.get('Member') }
      const version = (await call('GET', `/groups/${id}`)).body['version']
      const rules = {
        ...{ budget_max: { budget: '10', period: 'month' }, days_max: 30, keys_max: 2 },
        ...{ environments: ['dev'], rpm_max: 60, concurrency_max: 2 },
      }
      const headers = { 'if-match': `"${version}"` }
      await done(call('PATCH', `/groups/${id}`, { body: { key_rules: rules }, headers }))
      const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
      const good = {
        ...{ name: 'mine', group: id, models: ['sandbox-chat'], budget: '10', environment: 'dev' },
        ...{ expires_at: days(29), rpm: 60, concurrency: 2 },
      }
      for (const [field, wrong] of [
        ['budget', { budget: '10.01' }],
        ['budget', { budget: null }],
        ['period', { period: 'day' }],
        ['expires_at', { expires_at: days(31) }],
        ['expires_at', { expires_at: null }],
        ['environment', { environment: 'production' }],
        ['rpm', { rpm: null }],
        ['concurrency', { concurrency: 3 }],
        ['owner_person', { owner_person: people.get('Viewer') }],
      ] as const) {
        const answer = await call('POST', '/keys', { body: { ...good, ...wrong }, ...member })
        assert.deepEqual(
          [answer.status, answer.body['error']?.['field']],
          [400, field],
          answer.text,
        )
      }
      const made = await call('POST', '/keys', { body: good, ...member })
      assert.equal(made.status, 201, made.text)
      assert.equal(made.body['owner_person']?.['id'], member.person)
      const full = await call('POST', '/keys', { body: { ...good, name: 'third' }, ...member })
      assert.equal(full.body['error']?.['reason'], 'own_keys_full', full.text)
      const change = async (body: object) => {
        const now = (await call('GET', `/keys/${made.body['id']}`, member)).body['version']
        const match = { 'if-match': `"${now}"` }
        return call('PATCH', `/keys/${made.body['id']}`, { body, headers: match, ...member })
      }
      assert.equal((await change({ budget: '11' })).status, 400)
      assert.equal((await change({ owner_person: null })).status, 400)
      assert.equal((await change({ group: null })).status, 400)
      assert.equal((await change({ budget: '9', name: 'still mine' })).status, 200)
      // A tighter rule leaves a key as it is until what it bounds changes.
      const tighter = { budget_max: { budget: '1', period: 'month' } }
      const next = { 'if-match': `"${Number(version) + 1}"` }
      await done(call('PATCH', `/groups/${id}`, { body: { key_rules: tighter }, headers: next }))
      assert.equal((await change({ description: 'kept' })).status, 200)
      assert.equal((await change({ budget: '2' })).status, 400)
      for (const action of ['rotate', 'pause', 'resume'] as const) {
        const body = action === 'rotate' ? { body: {} } : {}
        await done(call('POST', `/keys/${made.body['id']}/${action}`, { ...body, ...member }))
      }
      const more = { amount: '1', reason: 'more' }
      const topUp = await call('POST', `/keys/${made.body['id']}/top-up`, { body: more, ...member })
      assert.equal(topUp.status, 403)
      const ending = { body: { reason: 'a test' }, ...member }
      await done(call('POST', `/keys/${made.body['id']}/revoke`, ending))
    })

    test('what a manager paused stays paused until a manager resumes it', async () => {
      const { id, people } = teamOf('blue')
      const [member, manager] = [
        { person: people.get('Member') },
        { person: people.get('Manager') },
      ]
      const key = await newKey('paused', { group: id, owner_person: member.person })
      const act = (verb: string, who: Asked) => call('POST', `/keys/${key}/${verb}`, who)
      assert.equal((await done(act('pause', member)))['paused_by'], 'owner')
      assert.equal((await done(act('resume', member)))['paused_by'], null)
      assert.equal((await done(act('pause', manager)))['paused_by'], 'manager')
      // Pausing it once more must not make the pause their own.
      assert.equal((await done(act('pause', member)))['paused_by'], 'manager')
      const bulk = { ids: [key], change: { action: 'resume' } }
      const many = await call('POST', '/keys/bulk', { body: bulk, ...member })
      assert.match(many.text, /own_key_paused/)
      const refusal = await act('resume', member)
      assert.deepEqual(
        [refusal.status, refusal.body['error']?.['reason']],
        [409, 'own_key_paused'],
        refusal.text,
      )
      assert.equal((await call('GET', `/keys/${key}`)).body['status'], 'paused')
      await done(act('resume', manager))
      // A manager takes over a pause of the member.
      await done(act('pause', member))
      await done(act('pause', manager))
      assert.equal((await act('resume', member)).status, 409)
      await done(call('POST', `/keys/${key}/revoke`, { body: { reason: 'a test' }, ...member }))
    })

    test('they see the rules of their groups, what is left there, and only their own keys', async () => {
      const { id, people, own } = teamOf('red')
      const read = async (role: string) => {
        const { body } = await call('GET', '/own/groups', { person: people.get(role) })
        const groups: readonly Readonly<Record<string, unknown>>[] = body['groups'] ?? []
        assert.equal(groups.length, 1)
        return groups[0] ?? {}
      }
      const group = await read('Member')
      assert.deepEqual([group['id'], group['name'], group['own_keys']], [id, 'red team', 1])
      assert.equal(Object(group['key_rules']).self_service, true)
      assert.equal(group['may_create_keys'], true)
      assert.equal(Number(group['remaining']) <= 50, true)
      assert.equal((await read('Manager'))['key_rules'], null)
      assert.equal((await read('Manager'))['may_create_keys'], true)
      assert.equal((await read('Viewer'))['may_create_keys'], false)
      const mine = `/keys?owner_person=${people.get('Member')}`
      for (const role of ['Member', 'Manager']) {
        const { body } = await call('GET', mine, { person: people.get(role) })
        const keys: readonly { readonly id: string }[] = body['keys'] ?? []
        assert.deepEqual(
          keys.map((key) => key.id),
          [own],
        )
      }
      const elsewhere = `/keys?owner_person=${teamOf('green').people.get('Member')}`
      const { body } = await call('GET', elsewhere, { person: people.get('Manager') })
      assert.deepEqual(body['keys'], [])
      assert.equal((await call('GET', '/own/groups', { permissions: null })).status, 401)
    })
  })
}

/** What changes by itself. */
const AT_THE_MOMENT = { last_used_at: undefined, forecast: undefined }

function passes(route: Route, person: Person): boolean {
  try {
    guard({ route, headers: {}, person }, 'https://tollgate.example.com')
    return true
  } catch (error) {
    assert.ok(error instanceof AdminError && error.code === 'not_permitted')
    return false
  }
}

type List = {
  readonly total: number
  readonly counts: { readonly all: number }
  readonly keys: readonly object[]
  readonly frame: unknown
  readonly frame_state: string
}
type Usage = {
  readonly rows: readonly object[]
  readonly total: { readonly requests: number; readonly refused: number }
}
type Models = { readonly models: readonly { readonly id: string; readonly key_count: number }[] }
type Requests = { readonly requests: readonly object[] }

/** Only the handler names are needed here. */
const NO_PARTS = {} as Parameters<typeof adminHandlers>[0]
