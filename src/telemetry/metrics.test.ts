// Counts come out as Prometheus reads them, also those of several processes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../core/errors.ts'
import { addUp, runtimeFigures, textOf } from './exposition.ts'
import { Counts } from './metrics.ts'

const answered = { method: 'POST', status: 200, error: undefined }
const requestId = 'req_1'

test('requests are counted by endpoint, model and status, errors by code, attempts by target', async () => {
  const counts = new Counts()
  const [first, second] = [
    { target: 'a/m', outcome: 'provider_failed' },
    { target: 'b/m', outcome: 'answered' },
  ]
  for (const durationMs of [20, 30]) {
    counts.requestBegan()
    const attempts = [first, second]
    counts.requestEnded(
      { requestId, endpoint: 'chat', model: 'm', attempts },
      { ...answered, durationMs },
    )
  }
  counts.requestBegan()
  counts.requestEnded(
    { requestId },
    { ...answered, status: 404, durationMs: 1, error: new GatewayError('not_found', '') },
  )
  counts.requestBegan()
  const lines = await linesOf(counts)
  for (const line of [
    'tollgate_requests_total{endpoint="chat",model="m",status="200"} 2',
    'tollgate_requests_total{endpoint="",model="",status="404"} 1',
    'tollgate_errors_total{code="not_found"} 1',
    'tollgate_errors_total{code="internal_error"} 0',
    'tollgate_attempts_total{target="a/m",outcome="provider_failed"} 2',
    'tollgate_attempts_total{target="b/m",outcome="answered"} 2',
    'tollgate_requests_in_flight 1',
    'tollgate_request_duration_seconds_count{endpoint="chat"} 2',
    'tollgate_request_duration_seconds_sum{endpoint="chat"} 0.05',
  ])
    assert.ok(lines.includes(line), line)
})

test('requests are counted by key and group, as far as there is room; the rest is other', async () => {
  const counts = new Counts(2)
  const ended = (keyId: string, groupId: string | null, error?: GatewayError): void =>
    counts.requestEnded({ requestId, keyId, groupId }, { ...answered, durationMs: 1, error })
  ended('key_1', 'grp_1')
  ended('key_1', 'grp_1', new GatewayError('rate_limit_exceeded', ''))
  ended('key_2', null, new GatewayError('provider_failed', ''))
  for (const key of ['key_3', 'key_4'])
    ended(key, 'grp_2', new GatewayError('model_not_allowed', ''))
  ended('key_5', 'grp_3')
  const lines = await linesOf(counts)
  const of = (name: string): string[] => lines.filter((line) => line.startsWith(`${name}{`))
  assert.deepEqual(of('tollgate_key_requests_total'), [
    'tollgate_key_requests_total{key="key_1",group="grp_1"} 2',
    'tollgate_key_requests_total{key="key_2",group=""} 1',
    'tollgate_key_requests_total{key="other",group="grp_2"} 2',
    'tollgate_key_requests_total{key="other",group="other"} 1',
  ])
  assert.deepEqual(of('tollgate_key_refused_total'), [
    'tollgate_key_refused_total{key="key_1",group="grp_1"} 1',
    'tollgate_key_refused_total{key="other",group="grp_2"} 2',
  ])
})

test('each bucket counts every duration up to its bound', async () => {
  const counts = new Counts()
  for (const firstTokenMs of [50, 51, 60_000, 60_001])
    counts.requestEnded(
      { requestId, model: 'm', stream: true, firstTokenMs },
      { ...answered, durationMs: 1 },
    )
  counts.requestEnded(
    { requestId, model: 'm', stream: false, firstTokenMs: 9 },
    { ...answered, durationMs: 1 },
  )
  const lines = await linesOf(counts)
  const bucket = (le: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`tollgate_first_token_seconds_bucket{model="m",le="${le}"}`))
      ?.split(' ')[1]
  assert.deepEqual(['0.05', '0.1', '30', '60', '+Inf'].map(bucket), ['1', '2', '2', '3', '4'])
})

test('quotes and backslashes in a name are escaped', async () => {
  const counts = new Counts()
  counts.requestEnded(
    { requestId, endpoint: 'chat', model: 'a"b\\c' },
    { ...answered, durationMs: 1 },
  )
  const lines = await linesOf(counts)
  assert.ok(
    lines.includes('tollgate_requests_total{endpoint="chat",model="a\\"b\\\\c",status="200"} 1'),
  )
})

test('figures of several processes are added up', async () => {
  const [one, other] = [new Counts(), new Counts()]
  one.committed(1)
  other.committed(3)
  other.alarmed()
  other.requestEnded({ requestId, endpoint: 'chat', model: 'm' }, { ...answered, durationMs: 1 })
  const text = await textOf(await addUp([one.figures(), other.figures()]))
  for (const line of [
    'tollgate_processes 2',
    'tollgate_ledger_commit_seconds_bucket{le="0.001"} 1',
    'tollgate_ledger_commit_seconds_bucket{le="+Inf"} 2',
    'tollgate_ledger_commit_seconds_sum 0.004',
    'tollgate_ledger_alarms_total 1',
    'tollgate_requests_total{endpoint="chat",model="m",status="200"} 1',
  ])
    assert.ok(text.split('\n').includes(line), line)
})

test('only known figures of Node are reported', async () => {
  const values = (await runtimeFigures()).flatMap((figure) => figure.values)
  assert.ok(values.length > 0)
  // In a second call right after the first, nothing can have been recorded in between.
  const again = (await runtimeFigures()).filter(({ name }) => name.includes('lag_m'))
  for (const { value } of again.flatMap((figure) => figure.values)) assert.ok(value < 3_600)
})

async function linesOf(counts: Counts): Promise<readonly string[]> {
  return (await textOf(counts.figures())).split('\n')
}
