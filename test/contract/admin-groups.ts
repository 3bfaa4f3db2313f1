// The admin API's contract for groups of keys, on any database: run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeMetrics } from '../../src/admin/http/metrics.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { insertPerson } from '../../src/store/people/people.ts'
import { openTestAdmin, type Answer, type TestAdmin } from '../support/admin.ts'
import { readExposition, type Exposed } from '../support/scraper.ts'
import type { FreshDatabase } from '../support/store.ts'

export function adminGroupsContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  before(async () => {
    admin = await openTestAdmin(fresh)
  })
  after(() => admin[Symbol.asyncDispose]())

  const make = async (name: string, more: object = {}): Promise<Answer> =>
    admin.call('POST', '/groups', { body: { name, budget: '10', ...more } })
  const idOf = async (name: string, more: object = {}): Promise<string> => {
    const { status, body, text } = await make(name, more)
    assert.equal(status, 201, text)
    return body['id'] ?? ''
  }
  const change = (path: string, body: object, version: number): Promise<Answer> =>
    admin.call('PATCH', path, { body, headers: { 'if-match': `"${version}"` } })
  const keyIn = async (group: string | null, name: string, more: object = {}): Promise<string> => {
    const settings = { name, group, models: ['sandbox-chat'], budget: '5', ...more }
    const { status, body, text } = await admin.call('POST', '/keys', { body: settings })
    assert.equal(status, 201, text)
    return body['id'] ?? ''
  }

  describe('groups', () => {
    test('a month of a group can be downloaded as a page and as CSV', async () => {
      const id = await idOf('customer')
      const key = await keyIn(id, 'of customer')
      await admin.call('POST', `/keys/${key}/test`, { body: {} })
      const month = new Date().toISOString().slice(0, 7)
      const page = await admin.call('GET', `/statement.html?group=${id}&month=${month}`)
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(page.headers.get('content-disposition'), 'attachment; filename="statement.html"')
      assert.match(page.text, /<h1>customer<\/h1>[^]*<th>of customer<\/th>[^]*0\.000012/)
      const csv = await admin.call('GET', `/statement.csv?group=${id}&month=${month}`)
      assert.match(csv.text, /\ncustomer,\d{4}-\d\d,UTC,key_\w+,of customer,/)
      for (const wrong of ['month=2026-13', 'month=9998-01', 'month=1999-01', 'month='])
        assert.equal((await admin.call('GET', `/statement.csv?group=${id}&${wrong}`)).status, 400)
      const unknown = await admin.call(
        'GET',
        `/statement.csv?group=${newId('grp', systemClock)}&month=${month}`,
      )
      assert.equal(unknown.status, 404)
    })

    test('a group is created, listed, changed, archived and activated', async () => {
      const window = { budget: '2', period: 'day' }
      const rules = { self_service: true, budget_max: { budget: '1', period: 'month' } }
      const made = await make('search', { window, key_rules: rules, models: ['sandbox-chat'] })
      assert.equal(made.status, 201, made.text)
      assert.equal(made.headers.get('etag'), '"1"')
      const id = String(made.body['id'])
      assert.partialDeepStrictEqual(made.body as object, {
        ...{ status: 'active', budget: '10', remaining: '10', keys: 0, members: 0 },
        window: { ...window, spent: '0', remaining: '2' },
        key_rules: { ...rules, keys_max: null },
      })
      await keyIn(id, 'of search')
      const changed = await change(`/groups/${id}`, { window: null, key_rules: { keys_max: 2 } }, 1)
      assert.equal(changed.status, 200, changed.text)
      assert.partialDeepStrictEqual(changed.body as object, {
        ...{ window: null, keys: 1, allocated: '5', version: '2' },
        key_rules: { ...rules, keys_max: 2 },
      })
      const act = async (action: string) =>
        (await admin.call('POST', `/groups/${id}/${action}`)).body['status']
      assert.deepEqual([await act('archive'), await act('activate')], ['archived', 'active'])
      const { body } = await admin.call('GET', '/groups')
      const names = (body['groups'] as unknown as { name: string }[]).map(({ name }) => name)
      assert.ok(names.includes('search'))
    })

    test('a change needs the version it is based on, and a late one learns who was faster', async () => {
      const id = await idOf('versioned')
      const without = await admin.call('PATCH', `/groups/${id}`, { body: { budget: '6' } })
      assert.equal(without.status, 428)
      assert.equal((await change(`/groups/${id}`, { budget: '6' }, 1)).status, 200)
      const late = await change(`/groups/${id}`, { budget: '7' }, 1)
      assert.equal(late.status, 412)
      const changes = late.body['error']?.['conflict']?.['changes'] as unknown as object[]
      assert.partialDeepStrictEqual(changes[0], {
        action: 'group.change',
        fields: [{ field: 'budget', before: '10', after: '6' }],
      })
    })

    test('a creation sent twice under one Idempotency-Key happens once', async () => {
      const headers = { 'idempotency-key': 'group-once' }
      const body = { name: 'once' }
      const first = await admin.call('POST', '/groups', { body, headers })
      const second = await admin.call('POST', '/groups', { body, headers })
      assert.deepEqual([first.status, second.status], [201, 201])
      assert.deepEqual(second.body, first.body)
    })

    test('everything that the store finds wrong is said at once, each with its field', async () => {
      const wrong = await make('none', {
        ...{ timezone: 'Mars/Olympus', request_cost_max: '0' },
        window: { budget: '1', period: 'month' },
      })
      assert.equal(wrong.status, 400)
      const error = wrong.body['error'] as unknown as { problems: { field: string }[] }
      assert.deepEqual(
        new Set(error.problems.map(({ field }) => field)),
        new Set(['name', 'timezone', 'window', 'request_cost_max']),
      )
    })

    test('a budget given twice for a model is refused with all else that is wrong', async () => {
      const cap = { model: 'sandbox-chat', budget: '1', period: 'day' }
      const settings = { name: 'two caps', models: ['sandbox-chat'], budget: '5' }
      const wrong = { model_budgets: [cap, cap], timezone: 'Mars', group: 'grp_nowhere' }
      const { status, body } = await admin.call('POST', '/keys', {
        body: { ...settings, ...wrong },
      })
      assert.equal(status, 400)
      const error = body['error'] as unknown as { problems: { field: string }[] }
      assert.deepEqual(
        error.problems.map(({ field }) => field),
        ['timezone', 'model_budgets', 'group'],
      )
    })

    test('an unknown group is not found, and a name is taken once', async () => {
      const nowhere = await admin.call('GET', `/groups/${newId('grp', admin.store.clock)}`)
      assert.deepEqual([nowhere.status, nowhere.body['error']?.['code']], [404, 'not_found'])
      await idOf('taken')
      const { status, body } = await make('taken')
      assert.deepEqual([status, body['error']?.['code']], [409, 'duplicate_name'])
    })

    test('reading needs one permission, changing another', async () => {
      const id = await idOf('guarded')
      const read = { permissions: ['configuration:read'] } as const
      assert.equal((await admin.call('GET', `/groups/${id}`, read)).status, 200)
      const refused = await admin.call('POST', `/groups/${id}/archive`, read)
      assert.deepEqual(
        [refused.status, refused.body['error']?.['permission']],
        [403, 'configuration:manage'],
      )
    })

    test('a budget and a window are topped up and reset on their own', async () => {
      const id = await idOf('topped', { window: { budget: '1', period: 'day' } })
      const act = (action: string, body: object) =>
        admin.call('POST', `/groups/${id}/${action}`, { body: { reason: 'a test', ...body } })
      const main = await act('top-up', { amount: '3' })
      assert.deepEqual([main.body['remaining'], main.body['window']?.['remaining']], ['13', '1'])
      const window = await act('top-up', { amount: '2', window: true })
      assert.deepEqual(
        [window.body['remaining'], window.body['window']?.['remaining']],
        ['13', '3'],
      )
      assert.equal((await act('reset-spend', { window: true })).status, 200)
      const audit = await admin.call('GET', `/audit?subject=group&subject_id=${id}`)
      const entries = audit.body['entries'] as unknown as { action: string; subject_name: string }[]
      assert.deepEqual(
        entries.map(({ action, subject_name }) => [action, subject_name]),
        [
          ['group.reset_spend', 'topped'],
          ['group.top_up', 'topped'],
          ['group.top_up', 'topped'],
          ['group.create', 'topped'],
        ],
      )
    })
  })

  describe('keys in groups', () => {
    test('a key is created in a group with all its budgets, moved, found and taken out', async () => {
      const [one, other] = [await idOf('first home'), await idOf('second home')]
      const id = await keyIn(one, 'wanderer', {
        ...{ request_cost_max: '0.5', window: { budget: '1', period: 'day' } },
        model_budgets: [{ model: 'sandbox-chat', budget: '2', period: 'week' }],
      })
      const { body } = await admin.call('GET', `/keys/${id}`)
      assert.partialDeepStrictEqual(body as object, {
        ...{ group: { id: one, name: 'first home' }, request_cost_max: '0.5' },
        window: { budget: '1', period: 'day', remaining: '1' },
        model_budgets: [{ model: 'sandbox-chat', budget: '2', period: 'week' }],
      })
      const moved = await change(`/keys/${id}`, { group: other, model_budgets: [] }, 1)
      assert.equal(moved.status, 200, moved.text)
      assert.deepEqual(
        [moved.body['group'], moved.body['model_budgets']],
        [{ id: other, name: 'second home', status: 'active' }, []],
      )
      const total = async (group: string) =>
        (await admin.call('GET', `/keys?group=${group}`)).body['total']
      assert.deepEqual([await total(one), await total(other)], [0, 1])
      const out = await change(`/keys/${id}`, { group: null, window: null }, 2)
      assert.deepEqual([out.body['group'], out.body['window']], [null, null])
      assert.deepEqual([await total(other), (await total('none')) !== 0], [0, true])
    })

    test('a ceiling counts in what a key shows, and a key that it leaves nothing is named', async () => {
      const id = await idOf('low ceiling', { models: ['other'] })
      const key = await keyIn(id, 'under it')
      const { body } = await admin.call('GET', `/keys?group=${id}`)
      const [row] = body['keys'] as unknown as { id: string; model_count: number }[]
      assert.deepEqual([row?.id, row?.model_count], [key, 0])
      const group = await admin.call('GET', `/groups/${id}`)
      assert.deepEqual(group.body['keys_without_models'], ['under it'])
      const limits = await admin.call('GET', `/keys/${key}/limits?model=sandbox-chat`)
      assert.equal(limits.body['blocked_by']?.['code'], 'model_not_allowed')
      const any = await admin.call('GET', `/keys/${key}/limits`)
      assert.match(String(any.body['blocked_by']?.['message']), /none that its group "low ceiling"/)
    })

    test('the verdict knows the group, and what is left on the tightest of all budgets', async () => {
      const window = { budget: '2', period: 'day' }
      const group = await idOf('tight group', { budget: '4', window, timezone: 'Asia/Kolkata' })
      const cap = { model: 'sandbox-chat', budget: '3', period: 'week' }
      const key = await keyIn(group, 'in the tight group', { model_budgets: [cap] })
      const left = async () => {
        const { body } = await admin.call('GET', `/keys/${key}/limits`)
        assert.partialDeepStrictEqual(body['group'] as unknown as object, {
          ...{ id: group, name: 'tight group', timezone: 'Asia/Kolkata', remaining: '4' },
        })
        return body['remaining']
      }
      assert.equal(await left(), '2')
      assert.equal((await change(`/groups/${group}`, { window: null }, 1)).status, 200)
      assert.equal(await left(), '3')
    })

    test('a key says that its group has nothing left, of its budget or of its window', async () => {
      const window = { budget: '0', period: 'day' }
      for (const [name, more, state] of [
        ['penniless', { budget: '0' }, 'group_exhausted'],
        ['done for today', { window }, 'group_exhausted'],
        ['well off', {}, 'active'],
      ] as const) {
        const group = await idOf(name, more)
        const key = await keyIn(group, 'one of many')
        const { body } = await admin.call('GET', `/keys?group=${group}`)
        const [row] = body['keys'] as unknown as readonly { readonly state: string }[]
        assert.equal(row?.state, state, name)
        assert.equal((await admin.call('GET', `/keys/${key}`)).body['state'], state, name)
      }
    })

    test('a key of an archived group is refused by name of the group', async () => {
      const id = await idOf('shelved')
      const key = await keyIn(id, 'shelved too')
      await admin.call('POST', `/groups/${id}/archive`)
      const { body } = await admin.call('GET', `/keys/${key}/limits`)
      assert.equal(body['blocked_by']?.['code'], 'paused_api_key')
      assert.match(String(body['blocked_by']?.['message']), /"shelved"/)
    })
  })

  test('metrics tell so many keys and groups apart, and add up the rest', async () => {
    const id = await idOf('watched', { budget: '20', window: { budget: '1', period: 'day' } })
    const key = await keyIn(id, 'watched', { budget: '3' })
    await admin.call('POST', `/keys/${key}/test`, { body: {} })
    const values = async (metricsKeysMax: number): Promise<Exposed> => {
      const { text } = await makeMetrics({ ...admin.parts, metricsKeysMax })()
      return readExposition(text)
    }
    const all = await values(100)
    const spent = all.sum('tollgate_key_spent_usd', { key, group: id, name: 'watched' })
    assert.ok(spent > 0)
    assert.equal(all.sum('tollgate_group_spent_usd', { group: id, name: 'watched' }), spent)
    assert.equal(all.sum('tollgate_key_remaining_usd', { key }), 3 - spent)
    assert.equal(all.sum('tollgate_group_remaining_usd', { group: id }), 1 - spent)
    assert.equal(all.sum('tollgate_key_spent_usd', { key: 'other' }), 0)
    const none = await values(0)
    const frame = none.sum('tollgate_frame_spent_usd')
    assert.ok(frame > 0)
    assert.equal(none.sum('tollgate_key_spent_usd', { key: 'other' }), frame)
    assert.equal(none.sum('tollgate_key_spent_usd'), frame)
    assert.equal(none.sum('tollgate_group_spent_usd'), all.sum('tollgate_group_spent_usd'))
  })

  describe('members', () => {
    test('people are added, listed and removed, with rights that the caller holds', async () => {
      const id = await idOf('with people')
      const { clock } = admin.store
      const email = 'carol@example.com'
      const person = { id: newId('person', clock), email, name: 'Carol', roleId: 'viewer' }
      await insertPerson(admin.store.db, person, clock.now())
      const put = (role: string, more: object = {}) =>
        admin.call('PUT', `/groups/${id}/members/${person.id}`, { body: { role }, ...more })
      const added = await put('Member')
      assert.equal(added.status, 200, added.text)
      const [member] = added.body['members'] as unknown as object[]
      assert.partialDeepStrictEqual(member, { email, role: { id: 'member', name: 'Member' } })
      const permissions = ['configuration:manage']
      assert.equal((await put('Administrator', { permissions })).status, 403)
      assert.equal((await put('Nothing')).status, 400)
      const gone = await admin.call('DELETE', `/groups/${id}/members/${person.id}`)
      assert.deepEqual(gone.body['members'], [])
    })
  })
}
