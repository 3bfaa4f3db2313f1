// The admin API's contract for alert destinations: names, what each takes, which fail, and alerts about what is no
// budget: wishes, providers, the ledger. Run by test/contract/admin.test.ts on both databases.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { AlertWatch } from '../../src/admin/alerts/watch.ts'
import type { Clock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { ThresholdScan } from '../../src/store/alerts/give.ts'
import { giveOutages, giveRecoveries } from '../../src/store/alerts/events.ts'
import type { Store } from '../../src/store/database/store.ts'
import { insertPerson } from '../../src/store/people/people.ts'
import { openTestAdmin, type Json, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

export function adminDestinationsContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  let watches: readonly AlertWatch[] = []
  const groups = new Map<string, string>()

  before(async () => {
    admin = await openTestAdmin(fresh)
    const { store, log, alerts: sender } = admin.parts
    // Two nodes over one database.
    watches = [1, 2].map(() => new AlertWatch({ store, log, sender }))
    for (const name of ['red', 'blue']) {
      const key_rules = { self_service: true }
      const { body } = await admin.call('POST', '/groups', { body: { name, key_rules } })
      groups.set(name, String(body['id']))
    }
    for (const [name, more] of [
      ['everything', {}],
      ['red team', { groups: [groups.get('red')] }],
      ['red in production', { groups: [groups.get('red')], environments: ['Production'] }],
      ['batch jobs', { tags: ['batch'] }],
      ['outages', { kinds: ['outage'] }],
    ] as const)
      await add(name, more)
  })
  beforeEach(() => void admin.mails.splice(0))
  after(async () => {
    for (const watch of watches) await watch.stop()
    await admin[Symbol.asyncDispose]()
  })

  async function add(name: string, more: object = {}): Promise<Json> {
    const to = `${name.replaceAll(' ', '-')}@example.com`
    const body = { kind: 'email', name, to, ...more }
    const answer = await admin.call('POST', '/alerts/destinations', { body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const list = async (asked: { person?: string } = {}): Promise<Json[]> => {
    const { body } = await admin.call('GET', '/alerts/destinations', asked)
    return body['destinations'] as unknown as Json[]
  }
  const names = async (asked: { person?: string } = {}): Promise<unknown[]> =>
    (await list(asked)).map(({ name }) => name)
  /** To whom mails went since the last look, by the names of destinations. */
  const told = async (): Promise<readonly string[]> => {
    await Promise.all(watches.map((watch) => watch.look()))
    return admin.mails
      .splice(0)
      .map(({ to }) => to.replace('@example.com', '').replaceAll('-', ' '))
      .toSorted()
  }
  /** A key that is over its budget, as the next look finds. */
  const overspent = async (name: string, more: object = {}): Promise<string> => {
    const body = { name, models: ['sandbox-chat'], budget: '5', ...more }
    const id = String((await admin.call('POST', '/keys', { body })).body['id'])
    const spent = { spent_nanodollars: 5_000_000_000n, period_ends_at: null }
    await admin.store.db.updateTable('accounts').set(spent).where('id', '=', id).execute()
    return id
  }
  const person = async (email: string, role?: readonly [group: string, role: string]) => {
    const { store } = admin
    const id = newId('person', store.clock)
    await insertPerson(store.db, { id, email, name: email, roleId: 'member' }, store.clock.now())
    await store.db.updateTable('people').set({ joined_at: 1 }).where('id', '=', id).execute()
    if (role === undefined) return id
    const path = `/groups/${groups.get(role[0])}/members/${id}`
    const { status } = await admin.call('PUT', path, { body: { role: role[1] } })
    assert.equal(status, 200)
    return id
  }

  describe('names and what is taken', () => {
    test('a destination says what it takes, with the names of groups', async () => {
      const found = (await list()).find(({ name }) => name === 'red in production')
      assert.partialDeepStrictEqual(found, {
        ...{ kinds: null, tags: null, environments: ['Production'], failing: null, enabled: true },
        groups: [{ id: groups.get('red'), name: 'red' }],
      })
    })

    test('no two have one name', async () => {
      const body = { kind: 'email', name: 'everything', to: 'other@example.com' }
      const refused = await admin.call('POST', '/alerts/destinations', { body })
      assert.deepEqual([refused.status, refused.body['error']?.['code']], [409, 'duplicate_name'])
      const { id } = await add('to be renamed')
      const path = `/alerts/destinations/${id}`
      const renamed = await admin.call('PATCH', path, { body: { name: 'everything' } })
      assert.equal(renamed.status, 409)
      await admin.call('DELETE', path)
    })

    test('each change is on record, with before and after', async () => {
      const { id } = await add('changing')
      const path = `/alerts/destinations/${id}`
      const change = { name: 'changed', kinds: ['expiry'], groups: [groups.get('red')] }
      const { body } = await admin.call('PATCH', path, { body: change })
      assert.partialDeepStrictEqual(body, { name: 'changed', kinds: ['expiry'], enabled: true })
      const audit = await admin.call('GET', `/audit?subject_id=${id}`)
      const [entry] = audit.body['entries'] as unknown as Json[]
      assert.deepEqual(entry?.['fields'], [
        { field: 'name', before: 'changing', after: 'changed' },
        { field: 'kinds', before: null, after: ['expiry'] },
        { field: 'groups', before: null, after: ['red'] },
      ])
      const wrong = await admin.call('PATCH', path, { body: { url: 'https://example.com/hook' } })
      assert.partialDeepStrictEqual(wrong.body['error'], {
        field: 'url',
        reason: 'destination_kind',
      })
      const moved = await admin.call('PATCH', path, { body: { to: 'there@example.com' } })
      assert.equal(moved.body['address'], 'there@example.com')
      await admin.call('DELETE', path)
    })

    for (const [name, key, expected] of [
      ['outside groups', {}, ['everything']],
      ['of a group', { group: 'red' }, ['everything', 'red team']],
      ['of another group', { group: 'blue' }, ['everything']],
      [
        'of a group and an environment',
        { group: 'red', environment: 'production' },
        ['everything', 'red in production', 'red team'],
      ],
      ['with a tag', { group: 'blue', tags: ['Batch'] }, ['batch jobs', 'everything']],
    ] as const)
      test(`an alert about a key ${name} goes to: ${expected.join(', ')}`, async () => {
        const group = 'group' in key ? { group: groups.get(key.group) } : {}
        await overspent(`key ${name}`, { ...key, ...group })
        assert.deepEqual(await told(), expected)
        assert.deepEqual(await told(), [])
      })

    test('a moved key takes its later alerts along, and leaves the earlier ones behind', async () => {
      const red = await person('red-lead@example.com', ['red', 'Manager'])
      const blue = await person('blue-lead@example.com', ['blue', 'Manager'])
      const id = await overspent('moving', { group: groups.get('red') })
      assert.deepEqual(await told(), ['everything', 'red team'])
      const { headers } = await admin.call('GET', `/keys/${id}`)
      const version = { 'if-match': String(headers.get('etag')) }
      const body = { group: groups.get('blue') }
      const moved = await admin.call('PATCH', `/keys/${id}`, { body, headers: version })
      assert.equal(moved.status, 200)
      const seen = async (who: string): Promise<boolean> =>
        (await admin.call('GET', '/alerts/deliveries', { person: who })).text.includes('moving')
      assert.deepEqual([await seen(red), await seen(blue)], [true, false])
    })
  })

  describe('within a group', () => {
    test('only destinations that take alerts of these groups alone are seen, and none is changed', async () => {
      await add('red and blue', { groups: [groups.get('red'), groups.get('blue')] })
      const lead = await person('lead@example.com', ['red', 'Manager'])
      assert.deepEqual(await names({ person: lead }), ['red in production', 'red team'])
      const id = (await list()).find(({ name }) => name === 'red team')?.['id']
      const path = `/alerts/destinations/${id}`
      for (const [method, address, body] of [
        ['POST', '/alerts/destinations', { kind: 'email', name: 'mine', to: 'me@example.com' }],
        ['PATCH', path, { name: 'mine' }],
        ['POST', `${path}/test`, undefined],
        ['DELETE', path, undefined],
      ] as const) {
        const { status } = await admin.call(method, address, { body, person: lead })
        assert.equal(status, 403, address)
      }
    })

    test('the log of deliveries names no destination that others see', async () => {
      const lead = await person('reader@example.com', ['red', 'Viewer'])
      await overspent('named', { group: groups.get('red') })
      assert.deepEqual(await told(), ['everything', 'red and blue', 'red team'])
      const namesFor = async (asked: object): Promise<readonly unknown[]> => {
        const { body } = await admin.call('GET', '/alerts/deliveries', asked)
        const found = (body['deliveries'] as unknown as Json[]).filter(
          ({ alert }) => (alert as unknown as Json)['key_name'] === 'named',
        )
        return found.map((each) => String(each['destination_name'] ?? '')).toSorted()
      }
      assert.deepEqual(await namesFor({ person: lead }), ['', '', 'red team'])
      assert.deepEqual(await namesFor({}), ['everything', 'red and blue', 'red team'])
    })
  })

  describe('failing destinations', () => {
    test('since when nothing arrives and why is in the list, until something does', async () => {
      const body = { kind: 'webhook', name: 'away', url: 'http://127.0.0.1:1/hook' }
      const { id } = (await admin.call('POST', '/alerts/destinations', { body })).body
      const failing = async () => (await list()).find(({ name }) => name === 'away')?.['failing']
      assert.equal(await failing(), null)
      await overspent('unheard')
      await told()
      const first = (await failing()) as unknown as Json
      assert.partialDeepStrictEqual(first, { reason: 'webhook_refused' })
      assert.match(String(first['result']), /the connection was refused/)
      const path = `/alerts/destinations/${id}`
      await admin.call('POST', `${path}/test`)
      assert.equal(((await failing()) as unknown as Json)['since'], first['since'])
      // Another address has not failed yet.
      await admin.call('PATCH', path, { body: { url: 'http://127.0.0.1:1/other' } })
      assert.equal(await failing(), null)
      await admin.call('DELETE', path)
    })

    test('a sample names its destination', async () => {
      const { id } = await add('to try')
      await admin.call('POST', `/alerts/destinations/${id}/test`)
      assert.match(admin.mails[0]?.text ?? '', /sample for to try \(this is a test\)/)
      await admin.call('DELETE', `/alerts/destinations/${id}`)
    })
  })

  describe('a request for more', () => {
    test('is told once, to destinations and to those who manage the group', async () => {
      const owner = await person('dev@example.com', ['red', 'Member'])
      await person('deciding@example.com', ['red', 'Manager'])
      const key = await admin.call('POST', '/keys', {
        body: {
          ...{ name: 'small', models: ['sandbox-chat'], budget: '5' },
          ...{ group: groups.get('red'), owner_person: owner },
        },
      })
      const path = `/keys/${key.body['id']}/wishes`
      const body = { budget: '9', reason: 'more users' }
      const asked = await admin.call('POST', path, { body, person: owner })
      assert.equal(asked.status, 201, asked.text)
      const mail = admin.mails.find(({ to }) => to === 'deciding@example.com')
      assert.match(mail?.subject ?? '', /dev@example.com asks for more for the key "small"/)
      assert.match(mail?.text ?? '', /a budget of 9 USD/)
      assert.ok(!admin.mails.some(({ to }) => ['dev@example.com', 'ann@example.com'].includes(to)))
      admin.mails.splice(0)
      assert.deepEqual(await told(), ['everything', 'red and blue', 'red team'])
      const { body: log } = await admin.call('GET', '/alerts/deliveries?limit=1')
      const [delivery] = log['deliveries'] as unknown as Json[]
      assert.partialDeepStrictEqual(delivery?.['alert'], {
        ...{ kind: 'wish', scope: 'key', key_name: 'small', person: 'dev@example.com' },
        ...{ wanted: { budget: '9' }, reason: 'more users' },
      })
    })

    test('without a manager in the group, those who manage everything are told', async () => {
      const owner = await person('alone@example.com', ['blue', 'Member'])
      const lead = await admin.store.db
        .selectFrom('group_members')
        .select('person_id')
        .where('group_id', '=', groups.get('blue') ?? '')
        .where('role_id', '=', 'manager')
        .execute()
      for (const { person_id: id } of lead)
        await admin.call('DELETE', `/groups/${groups.get('blue')}/members/${id}`)
      const settings = { name: 'lonely', models: ['sandbox-chat'], budget: '5' }
      const key = await admin.call('POST', '/keys', {
        body: { ...settings, group: groups.get('blue'), owner_person: owner },
      })
      const body = { budget: '9', reason: 'more users' }
      await admin.call('POST', `/keys/${key.body['id']}/wishes`, { body, person: owner })
      assert.deepEqual(
        admin.mails.map(({ to }) => to),
        ['ann@example.com'],
      )
      await told()
    })
  })

  describe('somebody who no longer signs in', () => {
    const DAY_MS = 86_400_000
    const lookAgain = async (): Promise<readonly string[]> => {
      const { store, log, alerts: sender } = admin.parts
      const nodes = [1, 2].map(() => new AlertWatch({ store, log, sender, inactiveDays: 30 }))
      await Promise.all(nodes.map((node) => node.look()))
      for (const node of nodes) await node.stop()
      return told()
    }
    const seen = (id: string, daysAgo: number) =>
      admin.store.db
        .updateTable('people')
        .set({ last_seen_at: Date.now() - daysAgo * DAY_MS })
        .where('id', '=', id)
        .execute()

    test('is told once, with their keys, to those who are told about the group of these', async () => {
      const away = await person('away@example.com', ['red', 'Member'])
      const here = await person('here@example.com', ['red', 'Member'])
      for (const [name, owner] of [
        ['left alone', away],
        ['used daily', here],
      ] as const) {
        const settings = { name, models: ['sandbox-chat'], budget: '5', owner_person: owner }
        await admin.call('POST', '/keys', { body: { ...settings, group: groups.get('red') } })
      }
      await admin.store.db.updateTable('people').set({ last_seen_at: Date.now() }).execute()
      await seen(away, 31)
      await seen(here, 29)
      assert.deepEqual(await lookAgain(), ['everything', 'red and blue', 'red team'])
      assert.deepEqual(await lookAgain(), [])
      const { body } = await admin.call('GET', '/alerts/deliveries?limit=1')
      const [delivery] = body['deliveries'] as unknown as Json[]
      assert.partialDeepStrictEqual(delivery?.['alert'], {
        ...{ kind: 'inactive', scope: 'person', person: 'away@example.com' },
        ...{ keys: ['left alone'], count: 1 },
      })
      await seen(away, 40)
      assert.equal((await lookAgain()).length, 3, 'after another visit it is told again')
    })

    test('nobody is told where no number of days is set', async () => {
      await seen(await person('forgotten@example.com', ['red', 'Member']), 400)
      assert.deepEqual(await told(), [])
    })
  })

  describe('what concerns the gateway as a whole', () => {
    const failing = [{ provider: 'openai', target: 'openai/gpt-5', reason: 'provider_failed' }]
    const at = (now: number): Store => {
      const { store } = admin
      const clock: Clock = { ...store.clock, now: () => now }
      return { ...store, clock }
    }

    test('an outage is told once over all nodes, and its end once nobody sees it fail', async () => {
      const start = Date.now() - 300_000
      await Promise.all([giveOutages(at(start), failing), giveOutages(at(start + 1), failing)])
      assert.deepEqual(await told(), ['everything', 'outages'])
      await giveOutages(at(start + 30_000), failing)
      await giveRecoveries(at(start + 60_000), ['openai', 'other'])
      assert.deepEqual(await told(), [], 'another node has seen it fail half a minute ago')
      const ended = at(start + 100_000)
      await Promise.all([giveRecoveries(ended, ['openai']), giveRecoveries(ended, ['openai'])])
      assert.deepEqual(await told(), ['everything', 'outages'])
      await giveOutages(at(start + 200_000), failing)
      assert.deepEqual(await told(), ['everything', 'outages'], 'the next one is another')
      const { body } = await admin.call('GET', '/alerts/deliveries')
      const ends = (body['deliveries'] as unknown as Json[])
        .map(({ alert }) => alert as unknown as Json)
        .filter((alert) => alert['kind'] === 'outage' && alert['ended_at'] !== null)
      assert.equal(ends.length, 2, 'one for each destination')
      assert.partialDeepStrictEqual(ends[0], {
        ...{ provider: 'openai', target: 'openai/gpt-5', reason: 'provider_failed' },
        ended_at: new Date(start + 100_000).toISOString(),
      })
    })

    test('an outage of which no end was seen is told again an hour later', async () => {
      const start = Date.now() - 7_200_000
      const lost = [{ provider: 'lost', target: 'lost/model', reason: 'provider_timeout' }]
      await giveOutages(at(start), lost)
      assert.equal((await told()).length, 2)
      await giveOutages(at(start + 3_700_000), lost)
      assert.equal((await told()).length, 2)
    })

    test('an alarm of the ledger is told once, however many nodes raise it, and no group learns of it', async () => {
      for (const watch of watches) watch.noticeAlarm('node 7 has stopped')
      assert.deepEqual(await told(), ['everything'])
      for (const watch of watches) watch.noticeAlarm('node 7 has stopped')
      assert.deepEqual(await told(), [])
      watches[0]?.noticeAlarm('node 8 has stopped: Bearer sk-1234567890abcdefghijkl')
      assert.deepEqual(await told(), ['everything'])
      const { text } = await admin.call('GET', '/alerts/deliveries?limit=1')
      assert.match(text, /node 8 has stopped/)
      assert.doesNotMatch(text, /1234567890/)
      const lead = await person('curious@example.com', ['red', 'Manager'])
      const within = await admin.call('GET', '/alerts/deliveries', { person: lead })
      assert.doesNotMatch(within.text, /stopped|openai/)
    })
  })

  test('a charge whose balance is not at hand is looked at, without waiting for the scan', async () => {
    const id = await overspent('left behind')
    // Too few at a time for a scan to find it.
    assert.ok(!(await new ThresholdScan(admin.store, 1).next()).includes(id))
    watches[0]?.settled.set(id, undefined)
    assert.deepEqual(await told(), ['everything'])
  })
}
