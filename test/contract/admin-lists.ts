// The admin API's contract for lists and the audit log, on any database: run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { KEY_SORTS } from '../../src/admin/contract/keys.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { DIMENSIONS } from '../../src/core/limits.ts'
import { sentence } from '../../src/core/sentences.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/units.ts'
import { ROWS_A_MINUTE_MAX } from '../../src/store/audit/record.ts'
import { pauseKey } from '../../src/store/keys/lifecycle.ts'
import { recordUse } from '../../src/store/keys/secrets.ts'
import { recordRefusals, type Refusals } from '../../src/store/refusals.ts'
import { openTestAdmin, type Json, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

/** Letters whose case a database may not fold, and characters with a meaning in patterns. */
const ODD_LETTERS = { owner: 'Özgür İnan, Νίκος ({[?*.\\^$|+-]})', tags: ['Äpfel & "Birnen"'] }

export function adminListsContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  const ids: Record<string, string> = {}

  const listed = async (query: string): Promise<{ names: string[]; page: Json }> => {
    const { status, body, text } = await admin.call('GET', `/keys?${query}`)
    assert.equal(status, 200, text)
    const keys = body['keys'] as unknown as { name: string }[]
    return { names: keys.map(({ name }) => name), page: body }
  }

  before(async () => {
    admin = await openTestAdmin(fresh)
    const soon = new Date(Date.now() + 3 * DAY_MS).toISOString()
    const keys = [
      { name: 'alpha', budget: '10', owner: 'ann', environment: 'production', tags: ['web'] },
      { name: 'beta', budget: null, owner: 'bob', models: ['sandbox-chat', 'sandbox-reasoner'] },
      { name: 'gamma', budget: '0.00002', expires_at: soon, mode: 'test', ...ODD_LETTERS },
      { name: 'delta', budget: '7', owner: 'dan' },
    ]
    for (const key of keys) {
      const { body } = await admin.call('POST', '/keys', {
        body: { models: ['sandbox-chat'], ...key },
      })
      ids[key.name] = body['id'] ?? ''
    }
    await admin.call('POST', `/keys/${ids['alpha']}/test`, { body: {} })
    await admin.call('POST', `/keys/${ids['delta']}/revoke`, { body: { reason: 'over' } })
    const now = Date.now()
    const usedAt = new Map([
      [ids['beta'] ?? '', now - 1_000],
      [ids['alpha'] ?? '', now],
      [ids['gamma'] ?? '', now - 31 * 86_400_000],
    ])
    await recordUse(admin.store, { keys: usedAt, secrets: new Map() })
    await recordRefusals(admin.store, [
      refusedAt(ids['alpha'] ?? '', now - HOUR_MS - 1_000),
      refusedAt(ids['beta'] ?? '', now - HOUR_MS + 60_000),
      refusedAt(ids['delta'] ?? '', now),
    ])
  })
  after(() => admin[Symbol.asyncDispose]())

  for (const address of [
    '/keys?search=%00',
    '/keys.csv?owner=%00',
    '/audit?actor=a%00b',
    '/requests/req_%00',
    '/alerts/deliveries?before=%00',
  ])
    test(`a NUL character is refused: ${address}`, async () => {
      const { status, body } = await admin.call('GET', address)
      assert.equal(status, 400)
      assert.partialDeepStrictEqual(body['error'], { code: 'invalid_value', reason: 'text_nul' })
    })

  describe('keys', () => {
    test('they come by name, or by last use with unused ones last', async () => {
      assert.deepEqual((await listed('')).names, ['alpha', 'beta', 'delta', 'gamma'])
      const used = async (order: string) => (await listed(`sort=last_used_at&order=${order}`)).names
      assert.deepEqual(await used('desc'), ['alpha', 'beta', 'gamma', 'delta'])
      assert.deepEqual(await used('asc'), ['gamma', 'beta', 'alpha', 'delta'])
    })

    test('a page is a slice of the whole list, in the same order', async () => {
      const all = (await listed('sort=name&order=asc')).names
      assert.deepEqual(all, ['alpha', 'beta', 'delta', 'gamma'])
      const second = await listed('sort=name&order=asc&per_page=3&page=2')
      assert.deepEqual(second.names, ['gamma'])
      assert.equal(second.page['total'], 4)
    })

    for (const sort of KEY_SORTS)
      test(`sorting by ${sort} lists every key once, in both orders`, async () => {
        for (const order of ['asc', 'desc']) {
          const { names } = await listed(`sort=${sort}&order=${order}`)
          assert.deepEqual(names.toSorted(), ['alpha', 'beta', 'delta', 'gamma'])
        }
      })

    test('sorting by cost puts the most expensive key first, within a filter too', async () => {
      assert.equal((await listed('sort=cost_7d')).names[0], 'alpha')
      assert.equal((await listed('sort=cost_7d&status=current&per_page=1')).names[0], 'alpha')
    })

    for (const [query, expected] of [
      ['status=revoked', ['delta']],
      ['status=current', ['alpha', 'beta', 'gamma']],
      ['status=active', ['alpha', 'beta', 'gamma']],
      ['concern=refusing_now', ['beta']],
      ['concern=no_own_limit', ['beta']],
      ['concern=never_expires', ['alpha', 'beta']],
      ['concern=expiring_7_days', ['gamma']],
      ['concern=unused_90_days', []],
      ['concern=over_80_percent', []],
      ['used=last_30_days', ['alpha', 'beta']],
      ['used=not_last_30_days', ['delta', 'gamma']],
      ['used=not_last_30_days&status=current', ['gamma']],
      ['owner=ann', ['alpha']],
      ['owner=ANN', ['alpha']],
      ['owner=ann&owner=Bob', ['alpha', 'beta']],
      ['owner=an', []],
      ['environment=production', ['alpha']],
      ['environment=Production&environment=staging', ['alpha']],
      ['tag=web&tag=batch', ['alpha']],
      ['group=none&owner=bob', ['beta']],
      ['search=PRODUC', ['alpha']],
      ['search=web', ['alpha']],
      ['mode=test', ['gamma']],
      ['tag=web', ['alpha']],
      ['tag=we', []],
      ['model=sandbox-reasoner', ['beta']],
      ['search=ALPH', ['alpha']],
      ['search=bob', ['beta']],
      ['search=100%25', []],
      ['search=_lpha', []],
      ['search=a&status=current&mode=live', ['alpha', 'beta']],
    ] as const)
      test(`${query} finds ${expected.join(', ') || 'nothing'}`, async () => {
        const { names, page } = await listed(`sort=name&order=asc&${query}`)
        assert.deepEqual(names, expected)
        assert.equal(page['total'], expected.length)
      })

    for (const [asked, isFound] of [
      [{ search: 'ÖZGÜR' }, true],
      [{ search: 'özgür i' }, true],
      [{ search: 'İNAN' }, true],
      [{ search: 'o\u0308zgu\u0308r' }, true],
      [{ search: 'ΝΊΚΟΣ' }, true],
      [{ search: 'νίκοσ' }, true],
      [{ search: '({[?*.\\^$|+-]})' }, true],
      [{ search: '?zgür' }, false],
      [{ search: '*zgür' }, false],
      [{ search: '.zgür' }, false],
      [{ search: '[ö]zgür' }, false],
      [{ search: '^özgür' }, false],
      [{ tag: 'Äpfel & "Birnen"' }, true],
      [{ tag: 'äPFEL & "birnen"' }, true],
      [{ tag: 'Äpfel' }, false],
    ] as const)
      test(`${JSON.stringify(asked)} finds ${isFound ? 'its key' : 'nothing'}`, async () => {
        const { names } = await listed(String(new URLSearchParams(asked)))
        assert.deepEqual(names, isFound ? ['gamma'] : [])
      })

    test('the labels of keys are there to choose from, without those of revoked keys', async () => {
      const { body } = await admin.call('GET', '/labels')
      assert.deepEqual(body, {
        owners: ['ann', 'bob', ODD_LETTERS.owner],
        environments: ['production'],
        tags: ['web', ...ODD_LETTERS.tags],
      })
    })

    test('the end of a secret finds its key, and so does the id', async () => {
      const { body } = await admin.call('GET', `/keys/${ids['beta']}`)
      const ending = String(body['masked']).slice(-4)
      assert.deepEqual((await listed(`search=${ending}&owner=bob`)).names, ['beta'])
      assert.deepEqual((await listed(`search=${ids['beta']}`)).names, ['beta'])
    })

    test('each count equals the total of its filter', async () => {
      const { page } = await listed('')
      const counts = page['counts'] as Record<string, number>
      for (const status of ['active', 'paused', 'expired', 'revoked'])
        assert.equal((await listed(`status=${status}`)).page['total'], counts[status], status)
      assert.equal(counts['all'], 4)
    })

    test('a change is counted at once, even one made outside the API', async () => {
      await listed('')
      await pauseKey(admin.store, 'beta')
      const { page } = await listed('status=paused')
      assert.equal((page['counts'] as Record<string, number>)['paused'], 1)
      await admin.call('POST', `/keys/${ids['beta']}/resume`)
    })

    test('a key shows seven days of cost, and a day without requests is empty, not zero', async () => {
      const { page } = await listed('search=alpha')
      const [key] = page['keys'] as { cost_7d: { days: (string | null)[]; total: string } }[]
      assert.equal(key?.cost_7d.days.length, 7)
      assert.deepEqual(key?.cost_7d.days.slice(0, 6), Array(6).fill(null))
      assert.equal(key?.cost_7d.days[6], key?.cost_7d.total)
    })
  })

  describe('usage, requests, models', () => {
    test('usage is compared with the previous period', async () => {
      const now = Date.now()
      const asked = async (since: number, until: number) => {
        const range = `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`
        return (await admin.call('GET', `/usage?${range}&by=day,key&compare=previous`)).body
      }
      const today = await asked(now - DAY_MS, now)
      assert.partialDeepStrictEqual(today['previous'], { rows: [], total: { requests: 0 } })
      // Seen from the next hour, all usage lies in the previous span, grouped by key and not by day.
      const { rows, total } = Object(await asked(now + 3_600_000, now + DAY_MS)).previous
      assert.deepEqual(total, today['total'])
      assert.ok(rows.every(({ key, day }: Json) => typeof key === 'string' && day === null))
      assert.equal((await admin.call('GET', '/usage')).body['previous'], null)
    })

    test('usage adds up to the same total however it is grouped', async () => {
      const totals = new Set<string>()
      const groupings = ['day,model', 'endpoint,day', 'group,owner,tag']
      for (const by of [...DIMENSIONS, ...groupings]) {
        const { body } = await admin.call('GET', `/usage?by=${by}`)
        totals.add(body['total']?.['cost'] ?? '')
      }
      assert.equal(totals.size, 1)
      const csv = await admin.call('GET', '/usage.csv?by=key')
      assert.match(
        csv.text,
        /^key,key_name,group,group_name,owner,environment,tags,tag,model,provider,/,
      )
      assert.match(csv.text, /,alpha,/)
    })

    test('each dimension is also a filter', async () => {
      for (const [filter, cost] of [
        ['owner=ann', '0.000012'],
        ['owner=', '0'],
        ['environment=production&tag=web', '0.000012'],
        ['group=none', '0.000012'],
        ['provider=sandbox&model=sandbox-chat', '0.000012'],
        ['endpoint=messages', '0'],
      ] as const) {
        const { body } = await admin.call('GET', `/usage?by=day&${filter}`)
        assert.equal(body['total']?.['cost'], cost, filter)
      }
      const { body } = await admin.call('GET', '/usage?by=key&limit=1&owner=ann')
      assert.partialDeepStrictEqual(body, { left_out: 0, rest: { requests: 0, cost: '0' } })
    })

    for (const query of [
      'by=week',
      'group=everyone',
      'since=yesterday',
      'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
      'until=1970-01-01T00:00:00Z',
    ])
      test(`an invalid query is refused: ${query}`, async () => {
        assert.equal((await admin.call('GET', `/usage?${query}`)).status, 400)
      })

    for (const moment of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-00:01'])
      test(`a time outside 1970 to 9999 is refused everywhere: ${moment}`, async () => {
        const lists = ['/usage', '/usage.csv', '/requests', '/audit', '/audit.csv']
        for (const list of [...lists, `/keys/${ids['alpha']}/usage`]) {
          for (const name of ['since', 'until']) {
            const { status, body } = await admin.call('GET', `${list}?${name}=${moment}`)
            assert.equal(status, 400, `${list} ${name}`)
            assert.match(JSON.stringify(body), /from 1970 to 9999/)
          }
        }
        const name = `expires ${moment}`
        const key = { name, models: [], budget: '1', expires_at: moment }
        assert.equal((await admin.call('POST', '/keys', { body: key })).status, 400)
      })

    test('a report from 1970 to 9999, compared with the time before, is answered', async () => {
      const all = 'since=1970-01-01T00:00:00Z&until=9999-12-31T23:59:59.999Z&compare=previous'
      const { status, body } = await admin.call('GET', `/usage?${all}`)
      assert.equal(status, 200)
      assert.partialDeepStrictEqual(body['previous'], { total: { requests: 0 } })
    })

    test('requests are found by key, model and outcome, a page at a time', async () => {
      await admin.call('POST', `/keys/${ids['alpha']}/test`, { body: {} })
      const { body: first } = await admin.call('GET', '/requests?limit=1')
      assert.equal((first['requests'] as unknown as object[]).length, 1)
      const { body: second } = await admin.call('GET', `/requests?limit=5&before=${first['next']}`)
      assert.equal((second['requests'] as unknown as object[]).length, 1)
      for (const [query, count] of [
        ['outcome=ok', 2],
        ['outcome=failed', 0],
        ['model=sandbox-chat', 2],
        ['model=other', 0],
        [`key=${ids['beta']}`, 0],
      ] as const) {
        const { body } = await admin.call('GET', `/requests?${query}`)
        assert.equal((body['requests'] as unknown as object[]).length, count, query)
        assert.equal(body['next'], null)
      }
    })

    test('models show their price, their health and how many keys may call them', async () => {
      const { body } = await admin.call('GET', '/models')
      const models = body['models'] as unknown as { id: string }[]
      assert.partialDeepStrictEqual(
        models.find(({ id }) => id === 'sandbox-chat'),
        {
          provider: 'sandbox',
          health: 'answering',
          key_count: 3,
          price: { input: '1', output: '2' },
        },
      )
    })
  })

  describe('the record of changes', () => {
    type Entry = {
      action: string
      actor: string
      outcome: string
      source: string
      count: number
      fields: object[]
    }
    const entries = async (query: string): Promise<Entry[]> =>
      (await admin.call('GET', `/audit?${query}`)).body['entries'] as unknown as Entry[]

    test('every change is recorded with the values before and after', async () => {
      const id = ids['alpha'] ?? ''
      const { body } = await admin.call('GET', `/keys/${id}`)
      const headers = { 'if-match': `"${body['version']}"` }
      await admin.call('PATCH', `/keys/${id}`, {
        body: { budget: '11', rpm: 5 },
        headers,
        via: 'token',
      })
      await admin.call('POST', `/keys/${id}/top-up`, { body: { amount: '2', reason: 'launch' } })
      const [topUp, change] = await entries(`subject_id=${id}&limit=2`)
      assert.partialDeepStrictEqual(change, {
        action: 'key.change',
        actor: 'ann@example.com',
        source: 'api',
        address: '127.0.0.1',
        outcome: 'done',
        fields: [
          { field: 'budget', before: '10', after: '11' },
          { field: 'rpm', before: null, after: 5 },
        ],
      })
      assert.partialDeepStrictEqual(topUp, {
        action: 'key.top_up',
        source: 'ui',
        reason: 'launch',
        fields: [{ field: 'top_up', before: '0', after: '2' }],
      })
    })

    test('a refused action is recorded, and changes nothing', async () => {
      const id = ids['alpha'] ?? ''
      const permissions = ['configuration:read'] as const
      const body = { reason: 'because' }
      const { status } = await admin.call('POST', `/keys/${id}/revoke`, { body, permissions })
      assert.equal(status, 403)
      const [refused] = await entries(`subject_id=${id}&outcome=refused`)
      assert.partialDeepStrictEqual(refused, {
        action: 'key.revoke',
        outcome: 'refused',
        reason: sentence('permission_missing', { permission: 'configuration:manage' }).text,
        subject: 'key',
        subject_name: 'alpha',
        refusal: {
          reason: 'permission_missing',
          values: { permission: 'configuration:manage' },
        },
        count: 1,
      })
      assert.equal((await admin.call('GET', `/keys/${id}`)).body['status'], 'active')
    })

    test('repeated refusals are counted, and take up limited room', async () => {
      const permissions = ['usage:read'] as const
      const size = async () => (await entries('limit=200&outcome=refused')).length
      const before = await size()
      for (let count = 0; count < 30; count++)
        await admin.call('POST', '/frame/reset-spend', { body: { reason: 'x' }, permissions })
      const again = await entries('action=frame.reset_spend&outcome=refused')
      assert.equal(
        again.reduce((sum, { count }) => sum + count, 0),
        30,
      )
      // A minute may end meanwhile.
      assert.ok((await size()) <= before + 2)
      const keys = Array.from({ length: 200 }, () => newId('key', systemClock))
      for (const id of keys) await admin.call('POST', `/keys/${id}/pause`, { permissions })
      assert.ok((await size()) <= before + 2 * (ROWS_A_MINUTE_MAX + 1))
      const counted = await entries('action=key.pause&outcome=refused')
      assert.equal(
        counted.reduce((sum, { count }) => sum + count, 0),
        keys.length,
      )
    })

    test('no secret is recorded', async () => {
      const { body: created } = await admin.call('POST', '/keys', {
        body: { name: 'discreet', models: [], budget: '1' },
      })
      const { text } = await admin.call('GET', '/audit?limit=200')
      assert.equal(text.includes(String(created['secret'])), false)
    })

    test('filters find an entry behind newer ones of another kind', async () => {
      const path = `/keys/${ids['alpha']}`
      const body = { amount: '1', reason: 'found' }
      const spend = { reason: 'found' }
      await admin.call('POST', `${path}/reset-spend`, { body: spend, via: 'token' })
      await admin.call('POST', '/frame/top-up', { body })
      for (let count = 0; count < 3; count++) await admin.call('POST', `${path}/top-up`, { body })
      for (const [query, action] of [
        ['subject=frame', 'frame.top_up'],
        ['action=frame.top_up', 'frame.top_up'],
        ['subject=key&action=key.reset_spend', 'key.reset_spend'],
        ['source=api&subject=key', 'key.reset_spend'],
        ['since=1970-01-01T00:00:00Z&subject=frame', 'frame.top_up'],
      ] as const) {
        const [entry] = await entries(`${query}&limit=1`)
        assert.partialDeepStrictEqual(entry, { action, reason: 'found' }, query)
      }
      assert.deepEqual(await entries('subject=person&action=key.top_up'), [])
      const { text } = await admin.call('GET', '/audit.csv?source=api&action=key.reset_spend')
      assert.equal(text.split('\n').length, 2)
    })

    test('it can be read page by page and as CSV', async () => {
      const first = (await admin.call('GET', '/audit?limit=3')).body
      const second = await entries(`limit=200&before=${first['next']}`)
      const all = await entries('limit=200')
      assert.equal(second.length + 3, all.length)
      const { text } = await admin.call('GET', '/audit.csv?action=key.create')
      assert.equal(text.split('\n').length, 6)
      const { body: activity } = await admin.call('GET', `/keys/${ids['beta']}/activity`)
      const actions = (activity['entries'] as unknown as Entry[]).map(({ action }) => action)
      assert.deepEqual(actions, ['key.resume', 'key.pause', 'key.create'])
    })
  })
}

/** One call of a key, refused then. */
function refusedAt(keyId: string, createdAt: number): Refusals {
  const same = { keyId, groupId: '', code: 'model_not_allowed' }
  const row = {
    ...{ ...same, requestId: newId('req', { ...systemClock, now: () => createdAt }), createdAt },
    ...{ masked: null, scope: null, period: null, endpoint: 'chat', modelAsked: 'gpt-5' },
    ...{ requiredNanodollars: null, remainingNanodollars: null, userAgent: null, address: null },
  }
  return { ...same, startsAt: createdAt - (createdAt % HOUR_MS), count: 1, rows: [row] }
}
