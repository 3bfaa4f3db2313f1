// The admin API's contract for keys, on any database: run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { parseUsd } from '../../src/core/money.ts'
import { isWellFormedSecret } from '../../src/core/secret.ts'
import { openTestAdmin, type TestAdmin, type Answer } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

/** Each of these has broken some interface. */
const NASTY = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "Robert'); DROP TABLE keys;--",
  '=HYPERLINK("http://example.com")',
  '{{7*7}}${7*7}',
  '../../etc/passwd',
  'ﷺ𝕏Z̵͇̈a̶l\u200bgo 😀👩‍👩‍👧',
  '%00%0d%0a',
  'null',
  '-1',
  'a'.repeat(200),
]

export function adminKeysContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  before(async () => {
    admin = await openTestAdmin(fresh)
  })
  after(() => admin[Symbol.asyncDispose]())

  const create = async (name: string, more: object = {}): Promise<Answer> =>
    admin.call('POST', '/keys', { body: { name, models: ['sandbox-chat'], budget: '5', ...more } })
  const idOf = async (name: string, more: object = {}): Promise<string> => {
    const { status, body, text } = await create(name, more)
    assert.equal(status, 201, text)
    return body['id'] ?? ''
  }
  const change = (id: string, body: object, version: number): Promise<Answer> =>
    admin.call('PATCH', `/keys/${id}`, { body, headers: { 'if-match': `"${version}"` } })

  describe('creating', () => {
    test('the secret is in the first answer and in no other', async () => {
      const { status, body, headers } = await create('first', { tags: ['a'], owner: 'Ann' })
      assert.equal(status, 201)
      assert.ok(isWellFormedSecret(body['secret'] ?? ''))
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('etag'), '"1"')
      const again = await admin.call('GET', `/keys/${body['id']}`)
      assert.equal(again.text.includes(String(body['secret'])), false)
      assert.equal(again.body['masked'], `tg_live_…${String(body['secret']).slice(-4)}`)
    })

    test('a creation sent twice under one Idempotency-Key happens once, and its secret is shown once', async () => {
      const headers = { 'idempotency-key': 'create-once' }
      const body = { name: 'once', models: [], budget: null }
      const first = await admin.call('POST', '/keys', { body, headers })
      const second = await admin.call('POST', '/keys', { body, headers })
      assert.deepEqual([first.status, second.status], [201, 201])
      assert.equal(second.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(second.body, { ...first.body, secret: null })
      const other = await admin.call('POST', '/keys', { body: { ...body, name: 'other' }, headers })
      assert.equal(other.status, 409)
      assert.equal(other.body['error']?.['code'], 'idempotency_conflict')
    })

    test('one of many concurrent requests under one Idempotency-Key takes effect', async () => {
      const headers = { 'idempotency-key': 'top-up-once' }
      const id = await idOf('topped-up')
      const body = { amount: '1', reason: 'a test' }
      const answers = await Promise.all(
        Array.from({ length: 8 }, () =>
          admin.call('POST', `/keys/${id}/top-up`, { body, headers }),
        ),
      )
      assert.ok(answers.every(({ status }) => status === 200 || status === 409))
      const { body: key } = await admin.call('GET', `/keys/${id}`)
      assert.equal(key['top_up'], '1')
    })

    test('a refused request leaves its Idempotency-Key free', async () => {
      const headers = { 'idempotency-key': 'refused-first' }
      const refused = await admin.call('POST', '/keys', {
        body: { name: 'once', models: [], budget: '1' },
        headers,
      })
      assert.equal(refused.body['error']?.['code'], 'duplicate_name')
      const done = await admin.call('POST', '/keys', {
        body: { name: 'renamed', models: [], budget: '1' },
        headers,
      })
      assert.equal(done.status, 201)
    })

    test('all problems are reported at once, each with its field', async () => {
      const { status, body } = await admin.call('POST', '/keys', {
        body: { name: 5, budget: '1,50', rpm: 0, period: 'hour', colour: 'red' },
      })
      assert.equal(status, 400)
      const error = body['error'] as unknown as { problems: { field: string }[] }
      assert.deepEqual(
        new Set(error.problems.map(({ field }) => field)),
        new Set(['name', 'models', 'budget', 'rpm', 'period', 'colour']),
      )
    })

    for (const [field, value] of [
      ['budget', '9000001'],
      ['timezone', 'Mars/Olympus'],
      ['expires_at', '2001-01-01T00:00:00Z'],
      ['name', '   '],
    ] as const)
      test(`${field}: a refusal by the store names the field`, async () => {
        const { status, body } = await create('unused', { [field]: value })
        assert.equal(status, 400)
        assert.equal(body['error']?.['field'], field)
      })

    for (const text of NASTY)
      test(`a name is only text: ${JSON.stringify(text).slice(0, 40)}`, async () => {
        const { status, body } = await create(text, { owner: text, tags: [text] })
        assert.equal(status, 201)
        // Invisible characters are dropped, except where they join an emoji.
        const shown = text.normalize('NFC').replaceAll('\u200b', '')
        assert.equal(body['name'], shown)
        const found = await admin.call('GET', `/keys?search=${encodeURIComponent(shown)}`)
        const names = (found.body['keys'] as unknown as { name: string }[]).map(({ name }) => name)
        assert.ok(names.includes(shown))
        const tagged = await admin.call('GET', `/keys?tag=${encodeURIComponent(shown)}`)
        assert.equal(tagged.body['total'], 1)
        const csv = await admin.call('GET', '/keys.csv')
        assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/)
        assert.doesNotMatch(csv.text, /^=|,=/m)
      })
  })

  describe('changing', () => {
    test('a change needs the version it is based on', async () => {
      const id = await idOf('versioned')
      const without = await admin.call('PATCH', `/keys/${id}`, { body: { budget: '6' } })
      assert.equal(without.status, 428)
      const changed = await change(id, { budget: '6' }, 1)
      assert.equal(changed.status, 200)
      assert.equal(changed.headers.get('etag'), '"2"')
      const late = await change(id, { budget: '7' }, 1)
      assert.equal(late.status, 412)
      assert.deepEqual(late.body['error']?.['conflict']?.['version'], '2')
      const changes = late.body['error']?.['conflict']?.['changes'] as unknown as object[]
      assert.equal(changes.length, 1)
      assert.partialDeepStrictEqual(changes[0], {
        actor: 'ann@example.com',
        fields: [{ field: 'budget', before: '5', after: '6' }],
      })
      const { body } = await admin.call('GET', `/keys/${id}`)
      assert.equal(body['budget'], '6')
    })

    test('one of two people who save at once gets a conflict', async () => {
      const id = await idOf('raced')
      const both = await Promise.all([
        change(id, { budget: '6' }, 1),
        change(id, { budget: '7' }, 1),
      ])
      assert.deepEqual(
        both.map(({ status }) => status).toSorted((one, other) => one - other),
        [200, 412],
      )
    })

    test('a change keeps the fields it does not name, and null clears a field', async () => {
      const id = await idOf('partial', {
        rpm: 60,
        owner: 'Ann',
        expires_at: '2099-01-01T00:00:00+02:00',
      })
      const { body } = await change(id, { rpm: null, add_models: ['other'] }, 1)
      assert.deepEqual(
        [body['rpm'], body['owner'], body['models'], body['expires_at']],
        [null, 'Ann', ['other', 'sandbox-chat'], '2098-12-31T22:00:00.000Z'],
      )
    })

    test('a mistyped model gets a suggestion', async () => {
      const models = ['sandbox-chta', 'other']
      const { body } = await create('mistyped', { models })
      assert.deepEqual(body['unavailable_models'], ['other', 'sandbox-chta'])
      assert.deepEqual(body['closest_models'], { 'sandbox-chta': 'sandbox-chat' })
    })

    test('a key is paused, resumed, rotated and revoked', async () => {
      const id = await idOf('lively')
      const act = async (action: string, body?: object) =>
        (await admin.call('POST', `/keys/${id}/${action}`, { body })).body
      assert.equal((await act('pause'))['state'], 'paused')
      assert.equal((await act('resume'))['state'], 'active')
      const rotated = await act('rotate', { overlap_seconds: 3_600 })
      assert.ok(isWellFormedSecret(rotated['secret'] ?? ''))
      assert.equal(rotated['state'], 'rotating')
      assert.equal((await act('end-overlap'))['old_secret'], null)
      const revoked = await act('revoke', { reason: 'leaked' })
      assert.deepEqual([revoked['state'], revoked['revoked_reason']], ['revoked', 'leaked'])
      const late = await admin.call('POST', `/keys/${id}/resume`)
      assert.deepEqual([late.status, late.body['error']?.['code']], [409, 'wrong_state'])
    })

    test('each key of a bulk change succeeds or fails alone', async () => {
      const ids = [await idOf('bulk-1', { tags: ['x'] }), await idOf('bulk-2')]
      await admin.call('POST', `/keys/${ids[1]}/revoke`, { body: { reason: 'gone' } })
      const missing = 'key_00000000000000000000000000'
      const settings = { budget: '1', add_tags: ['y'], remove_tags: ['x'] }
      const { body } = await admin.call('POST', '/keys/bulk', {
        body: { ids: [...ids, missing], change: { action: 'update', settings } },
      })
      const results = body['results'] as unknown as { error: { code: string } | null }[]
      assert.deepEqual(
        results.map(({ error }) => error?.code ?? null),
        [null, 'wrong_state', 'not_found'],
      )
      const { body: key } = await admin.call('GET', `/keys/${ids[0]}`)
      assert.deepEqual([key['budget'], key['tags']], ['1', ['y']])
    })

    test('an empty change is refused, and keeps the version', async () => {
      const id = await idOf('unchanged')
      assert.equal((await change(id, {}, 1)).status, 400)
      assert.equal((await admin.call('GET', `/keys/${id}`)).body['version'], '1')
    })

    test('an unknown key is not found, and a name is not accepted as an id', async () => {
      const missing = await admin.call('GET', '/keys/key_00000000000000000000000000')
      assert.deepEqual([missing.status, missing.body['error']?.['code']], [404, 'not_found'])
      const named = await admin.call('GET', '/keys/lively')
      assert.deepEqual([named.status, named.body['error']?.['field']], [400, 'id'])
    })
  })

  describe('limits and calls', () => {
    test('a test call spends from its key, and can be explained', async () => {
      const id = await idOf('tried')
      const { body: call } = await admin.call('POST', `/keys/${id}/test`, { body: {} })
      assert.deepEqual([call['passes'], call['text']], [true, 'ready'])
      const { body: key } = await admin.call('GET', `/keys/${id}`)
      assert.equal(key['spent'], call['cost'])
      const { body: row } = await admin.call('GET', `/requests/${call['request_id']}`)
      // Also as names, so that interfaces can translate them.
      assert.partialDeepStrictEqual(row, {
        reasons: ['cost_provider_count'],
        attempts: [{ reasons: ['target_only'] }],
      })
      assert.deepEqual([row['cost'], row['agrees'], row['key_name']], [call['cost'], true, 'tried'])
      const { body: usage } = await admin.call('GET', `/keys/${id}/usage`)
      assert.equal(usage['total']?.['cost'], call['cost'])
      const { body: limits } = await admin.call('GET', `/keys/${id}/limits`)
      assert.equal(limits['frame']?.['own'], call['cost'])
    })

    for (const [name, settings, code, scope] of [
      ['broke', { budget: '0' }, 'key_budget_exceeded', 'key'],
      ['modelless', { models: [] }, 'model_not_allowed', null],
      ['mute', { permissions: ['models'] }, 'endpoint_not_allowed', null],
    ] as const)
      test(`the verdict names what blocks: ${code}`, async () => {
        const id = await idOf(name, settings)
        const { body } = await admin.call('GET', `/keys/${id}/limits`)
        assert.equal(body['passes'], false)
        assert.equal(body['blocked_by']?.['code'], code)
        assert.equal(body['blocked_by']?.['scope'], scope)
      })

    test('checking the limits of a key does not count as a use, and testing it does', async () => {
      const id = await idOf('looked-at')
      await admin.call('GET', `/keys/${id}/limits`)
      assert.equal(admin.used.has(id), false)
      await admin.call('POST', `/keys/${id}/test`, { body: {} })
      assert.equal(admin.used.has(id), true)
    })

    test('the verdict follows the key and the frame', async () => {
      const id = await idOf('judged')
      const blocked = async () =>
        (await admin.call('GET', `/keys/${id}/limits`)).body['blocked_by']?.['code'] ?? null
      assert.equal(await blocked(), null)
      await admin.call('POST', `/keys/${id}/pause`)
      assert.equal(await blocked(), 'paused_api_key')
      await admin.call('POST', `/keys/${id}/resume`)
      const { body: frame } = await admin.call('GET', '/frame')
      const headers = (version: string) => ({ 'if-match': `"${version}"` })
      const set = (budget: string, version: string) =>
        admin.call('PUT', '/frame', { body: { budget }, headers: headers(version) })
      const { body: empty } = await set('0', frame['version'] ?? '')
      assert.equal(await blocked(), 'frame_budget_exceeded')
      const { body: key } = await admin.call('GET', `/keys/${id}`)
      assert.deepEqual([key['state'], key['frame_binds']], ['frame_exhausted', true])
      assert.equal((await set('50', frame['version'] ?? '')).status, 412)
      const never = await set('50', '999')
      assert.equal(never.status, 412)
      assert.match(never.text, /there is no version 999/)
      assert.equal((await set('100', empty['version'] ?? '')).status, 200)
      assert.equal(await blocked(), null)
    })

    test('a key is found by its name, and a change can hold for any version', async () => {
      const { body: group } = await admin.call('POST', '/groups', { body: { name: 'far' } })
      const id = await idOf('afar', { group: group['id'] })
      await idOf('afar')
      const find = (name: string): Promise<Answer> =>
        admin.call('GET', `/key?name=${encodeURIComponent(name)}`)
      assert.equal((await find('far/afar')).body['id'], id)
      for (const name of ['afar', 'nobody']) assert.equal((await find(name)).status, 404)
      const anyVersion = (body: object): Promise<Answer> =>
        admin.call('PATCH', `/keys/${id}`, { body, headers: { 'if-match': '*' } })
      const amount = { budget: '1', period: 'day' }
      const caps = { add_model_budgets: [{ model: 'sandbox-chat', ...amount }] }
      const changed = await anyVersion({ rpm: 7, ...caps, reason: 'a test' })
      assert.equal(changed.status, 200, changed.text)
      const listed = await admin.call('GET', '/keys?with=models&search=afar')
      assert.match(listed.text, /"models":\["sandbox-chat"\]/)
      assert.doesNotMatch((await admin.call('GET', '/keys?search=afar')).text, /"models":/)
      const { body: audit } = await admin.call('GET', `/keys/${id}/activity`)
      assert.equal((audit['entries'] as unknown as { reason: string }[])[0]?.reason, 'a test')
      const bare = await anyVersion({ remove_model_budgets: ['sandbox-chat'] })
      assert.deepEqual([bare.body['model_budgets'], bare.body['rpm']], [[], 7])
    })

    test('a top-up needs a limit and a key that is not revoked', async () => {
      const topUp = async (id: string, amount: string) => {
        const { body } = await admin.call('POST', `/keys/${id}/top-up`, {
          body: { amount, reason: 'a test' },
        })
        return body['error']?.['code']
      }
      const limitless = await idOf('limitless', { budget: null })
      assert.equal(await topUp(limitless, '1'), 'wrong_state')
      const revoked = await idOf('gone')
      assert.equal(await topUp(revoked, '0'), 'invalid_value')
      await admin.call('POST', `/keys/${revoked}/revoke`, { body: { reason: 'over' } })
      assert.equal(await topUp(revoked, '1'), 'wrong_state')
    })

    test('a top-up needs a reason, and a reset starts spending at zero', async () => {
      const id = await idOf('refilled', { budget: '0.000001' })
      const nothing = await admin.call('POST', `/keys/${id}/top-up`, {
        body: { amount: '1', reason: '' },
      })
      assert.equal(nothing.body['error']?.['field'], 'reason')
      const { body: topped } = await admin.call('POST', `/keys/${id}/top-up`, {
        body: { amount: '1', reason: 'launch day' },
      })
      assert.deepEqual([topped['top_up'], topped['limit']], ['1', '1.000001'])
      await admin.call('POST', `/keys/${id}/test`, { body: {} })
      const { body: reset } = await admin.call('POST', `/keys/${id}/reset-spend`, {
        body: { reason: 'provider refunded' },
      })
      assert.equal(reset['spent'], '0')
      assert.equal((reset['history'] as unknown as object[]).length, 1)
    })

    test('the frame and groups say what was spent in their past periods, of which limit', async () => {
      await using own = await openTestAdmin(fresh)
      const { body: group } = await own.call('POST', '/groups', {
        body: { name: 'with a past', budget: '20' },
      })
      const settings = { name: 'of both', models: ['sandbox-chat'], budget: '5' }
      const { body: key } = await own.call('POST', '/keys', {
        body: { ...settings, group: group['id'] },
      })
      await own.call('POST', `/keys/${key['id']}/test`, { body: {} })
      const reset = { body: { reason: 'a new start' } }
      for (const [path, limit] of [
        ['/frame', '100'],
        [`/groups/${group['id']}`, '20'],
      ] as const) {
        assert.deepEqual((await own.call('GET', path)).body['history'], [])
        assert.equal((await own.call('POST', `${path}/reset-spend`, reset)).status, 200)
        const [past, ...more] = (await own.call('GET', path)).body['history'] as unknown as object[]
        assert.partialDeepStrictEqual(past, { limit, spent: '0.000012' })
        assert.deepEqual(more, [])
      }
    })

    test('a key’s part of the frame is what it spent in the frame’s period, not in its own', async () => {
      await using own = await openTestAdmin(fresh)
      const made = async (name: string): Promise<string> => {
        const body = { name, models: ['sandbox-chat'], budget: '1', period: 'day' }
        return String((await own.call('POST', '/keys', { body })).body['id'])
      }
      const spend = (id: string) => own.call('POST', `/keys/${id}/test`, { body: {} })
      const reset = (path: string) =>
        own.call('POST', `${path}/reset-spend`, { body: { reason: 'a test' } })
      const [early, late] = [await made('early'), await made('late')]
      type Shown = { name: string; spent: string; frame_share: number }
      const shares = async (): Promise<unknown> => {
        const { body } = await own.call('GET', '/keys?sort=share&order=desc')
        const { keys, frame } = body as unknown as { keys: Shown[]; frame: { limit: string } }
        const of = async (id: string): Promise<string> => {
          const { body: limits } = await own.call('GET', `/keys/${id}/limits`)
          return (limits as unknown as { frame: { own: string } }).frame.own
        }
        // The list and the page of a key say the same.
        const shown = keys.map(({ name, frame_share }) => [name, frame_share])
        const parts = [await of(early), await of(late)].map(
          (part) => Number(parseUsd(part)) / Number(parseUsd(frame.limit)),
        )
        assert.deepEqual(
          new Map(shown as [string, number][]),
          new Map([
            ['early', parts[0]],
            ['late', parts[1]],
          ]),
        )
        return keys.map(({ name, spent, frame_share }) => [name, spent !== '0', frame_share > 0])
      }
      await spend(early)
      assert.deepEqual(await shares(), [
        ['early', true, true],
        ['late', false, false],
      ])
      await reset('/frame')
      await spend(late)
      assert.deepEqual(await shares(), [
        ['late', true, true],
        ['early', true, false],
      ])
      // A new period of a key forgets nothing that the frame counts.
      await reset(`/keys/${late}`)
      assert.deepEqual(await shares(), [
        ['late', false, true],
        ['early', true, false],
      ])
    })
  })
}
