// The admin API's contract for refused calls, on any database: run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GatewayError } from '../../src/core/errors.ts'
import { newId } from '../../src/core/ids.ts'
import { openTestAdmin, type Json, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'

export function adminRefusalsContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  let id = ''

  before(async () => {
    admin = await openTestAdmin(fresh)
    const body = { name: 'turned away', models: ['sandbox-chat'], budget: '0.000001' }
    id = (await admin.call('POST', '/keys', { body })).body['id'] ?? ''
  })
  after(() => admin[Symbol.asyncDispose]())

  const listed = async (path: string): Promise<readonly Json[]> => {
    const { status, body, text } = await admin.call('GET', path)
    assert.equal(status, 200, text)
    return body['refusals'] ?? []
  }

  test('a trial that is refused is listed with what was lacking, and a forecast is not', async () => {
    await admin.call('GET', `/keys/${id}/limits`)
    const { body } = await admin.call('POST', `/keys/${id}/test`, { body: {} })
    await admin.refusals.flush()
    const [refusal, ...rest] = await listed(`/keys/${id}/refusals`)
    assert.deepEqual(rest, [])
    assert.partialDeepStrictEqual(refusal, {
      id: body['request_id'],
      key: id,
      key_name: 'turned away',
      code: 'key_budget_exceeded',
      scope: 'key',
      endpoint: 'chat',
      model: 'sandbox-chat',
      remaining: '0.000001',
      further: 0,
    })
    assert.deepEqual(await listed('/refusals?code=key_budget_exceeded'), [refusal])
    const { body: key } = await admin.call('GET', `/keys/${id}`)
    assert.deepEqual([key['state'], key['refused_with']], ['active', 'key_budget_exceeded'])
    const { body: page } = await admin.call('GET', '/keys?concern=refusing_now')
    const rows = (page['keys'] ?? []) as readonly Json[]
    assert.deepEqual(
      rows.map((row) => [row['id'], row['refused_with']]),
      [[id, 'key_budget_exceeded']],
    )
    assert.deepEqual(await listed('/refusals?code=paused_api_key'), [])
    assert.deepEqual(await listed('/refusals?until=2026-01-01T00:00:00Z'), [])
  })

  test('the verdict says that the last calls were refused, and what such a call takes', async () => {
    const { body } = await admin.call('GET', `/keys/${id}/limits`)
    assert.partialDeepStrictEqual(body['recent'], {
      ...{ calls: 1, succeeded: 0, failed: 0, refused: 1 },
      codes: ['key_budget_exceeded'],
    })
    // The small call of a forecast would pass with this budget, one like the last ones would not.
    const change = { budget: '0.0006', when_tight: 'refuse' }
    const { headers } = await admin.call('GET', `/keys/${id}`)
    const changed = { 'if-match': headers.get('etag') ?? '' }
    await admin.call('PATCH', `/keys/${id}`, { body: change, headers: changed })
    const tight = (await admin.call('GET', `/keys/${id}/limits`)).body as Json
    assert.partialDeepStrictEqual(tight, {
      passes: false,
      blocked_by: { code: 'key_budget_exceeded', status: 402, scope: 'key' },
    })
    assert.equal(tight['worst_case'], (tight['recent'] as Json)['median_hold'])
  })

  test('a code that refuses nothing, and a key that is none, are refused', async () => {
    for (const query of ['code=provider_failed', 'key=wrong', 'limit=0', 'since=yesterday'])
      assert.equal((await admin.call('GET', `/refusals?${query}`)).status, 400, query)
    const none = newId('key', admin.parts.clock)
    assert.equal((await admin.call('GET', `/keys/${none}/refusals`)).status, 404)
  })

  test('pages follow each other, and the hour of many says how many more there were', async () => {
    const { clock } = admin.parts
    for (let call = 0; call < 300; call++) {
      const trace = { requestId: newId('req', clock), endpoint: 'chat', keyId: id } as const
      const error = new GatewayError('rate_limit_exceeded', 'too many')
      const client = () => ({ userAgent: 'robot', address: '192.0.2.0/24' })
      admin.refusals.note({ error, trace, client })
    }
    await admin.refusals.flush()
    const ids = new Set<unknown>()
    let further = 0
    for (let before: unknown; before !== null;) {
      const query = `code=rate_limit_exceeded&limit=40${before === undefined ? '' : `&before=${String(before)}`}`
      const { body } = await admin.call('GET', `/refusals?${query}`)
      for (const refusal of (body['refusals'] ?? []) as readonly Json[]) {
        ids.add(refusal['id'])
        further += Number(refusal['further'])
      }
      before = body['next']
    }
    assert.deepEqual([ids.size, further], [100, 200])
  })
}
