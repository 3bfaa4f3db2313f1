// Budgets across the end of days, weeks, months and years, as a client and an administrator see them: a gateway on
// SQLite, whose clock is the database's, and three over PostgreSQL whose own clocks are wrong.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/core/units.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { startGateway } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import type { WrongClock } from '../../support/programs/wrong-clock.ts'
import { wrongClock } from '../../support/programs/wrong-clock.ts'
import type { TestProvider } from '../../support/provider.ts'
import { startProvider } from '../../support/provider.ts'

/** The cost of one call: 3 input tokens at 1 USD per million, 100 output tokens at 2. */
const CALL_USD = '0.000203'
const TWO_CALLS_USD = '0.000406'

/** Such a call's answer from another provider. */
const LATE_ANSWER = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'At last.' } },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 100, total_tokens: 103 },
}

type Call = { readonly status: number; readonly code?: string; readonly resetsAt?: string }

async function call(gateway: TestGateway, secret: string, model = 'sandbox-chat'): Promise<Call> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-tollgate-sandbox': 'tokens=100' },
    body: JSON.stringify({
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello there' }],
    }),
  })
  const { error } = (await response.json()) as { error?: { code: string; resets_at: string } }
  return {
    status: response.status,
    ...(error === undefined ? {} : { code: error.code, resetsAt: error.resets_at }),
  }
}

async function ownKey(gateway: TestGateway, secret: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${secret}` }
  return (await fetch(`${gateway.url}/v1/key`, { headers })).json() as never
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-periods-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Row = {
  readonly rule: readonly string[]
  /** A moment inside a period, and the ends of that period and of the next. */
  readonly at: string
  readonly ends: readonly [string, string]
}

const day = (timezone: string): string[] => ['--period', 'day', '--timezone', timezone]
const ROWS: readonly Row[] = [
  // Berlin changes to summer time: a day of 23 hours; and in autumn a day of 25 hours.
  {
    rule: day('Europe/Berlin'),
    at: '2027-03-27T12:00:00Z',
    ends: ['2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z'],
  },
  {
    rule: day('Europe/Berlin'),
    at: '2027-10-30T12:00:00Z',
    ends: ['2027-10-30T22:00:00Z', '2027-10-31T23:00:00Z'],
  },
  {
    rule: day('Asia/Kolkata'),
    at: '2027-01-10T12:00:00Z',
    ends: ['2027-01-10T18:30:00Z', '2027-01-11T18:30:00Z'],
  },
  // A Saturday: the week ends tonight or tomorrow night.
  {
    rule: ['--period', 'week', '--timezone', 'America/New_York', '--week-start', 'sun'],
    at: '2027-01-09T12:00:00Z',
    ends: ['2027-01-10T05:00:00Z', '2027-01-17T05:00:00Z'],
  },
  {
    rule: ['--period', 'week', '--timezone', 'America/New_York', '--week-start', 'mon'],
    at: '2027-01-09T12:00:00Z',
    ends: ['2027-01-11T05:00:00Z', '2027-01-18T05:00:00Z'],
  },
  // Auckland is a day ahead, and changes its clocks in the opposite direction.
  {
    rule: ['--period', 'month', '--timezone', 'Pacific/Auckland'],
    at: '2027-03-15T12:00:00Z',
    ends: ['2027-03-31T11:00:00Z', '2027-04-30T12:00:00Z'],
  },
  {
    rule: ['--period', 'year', '--timezone', 'UTC'],
    at: '2027-06-15T12:00:00Z',
    ends: ['2028-01-01T00:00:00Z', '2029-01-01T00:00:00Z'],
  },
]

describe('the turn of a period', () => {
  let provider: TestProvider
  let gateway: TestGateway
  let clock: WrongClock
  /** Resolved when the model `late` may answer. */
  let release: PromiseWithResolvers<void>
  before(async () => {
    provider = await startProvider((_, response) => {
      void release.promise.then(() => response.end(JSON.stringify(LATE_ANSWER)))
    })
    clock = wrongClock(join(folder, 'clock'))
    const config = `
frame: { budget: 100, period: never }
providers: { late: { kind: openai, base_url: "${provider.url}/v1" } }
models: { late: { targets: [late/m], price: { input: 1, output: 2 }, context: 1000, max_output: 100 } }
`
    gateway = await startGateway({ config, env: clock.env })
  })
  beforeEach(() => (release = Promise.withResolvers<void>()))
  after(async () => {
    await gateway.stop()
    await provider[Symbol.asyncDispose]()
  })

  for (const { rule, at, ends } of ROWS)
    test(`${rule.join(' ')} at ${at} resets the budget on time`, async () => {
      const [first, second] = ends.map((end) => new Date(end).toISOString())
      const name = `${rule.join(' ')} ${at}`
      const set = (moment: string, more = 0): void => clock.set(Date.parse(moment) + more)
      const budget = ['--budget', CALL_USD, '--when-tight', 'refuse']
      const secret = await gateway.key(name, 'sandbox-chat', ...rule, ...budget)

      set(at)
      assert.deepEqual(await call(gateway, secret), { status: 200 })
      // The last minute belongs to the period, its end to the next.
      set(ends[0], -60_000)
      const refused = { status: 402, code: 'key_budget_exceeded' }
      assert.deepEqual(await call(gateway, secret), { ...refused, resetsAt: first })
      assert.equal((await ownKey(gateway, secret))['resets_at'], first)

      set(ends[0])
      const fresh = await ownKey(gateway, secret)
      assert.deepEqual(
        [fresh['spent'], fresh['resets_at'], fresh['blocked_by']],
        ['0', second, null],
      )
      assert.deepEqual(await call(gateway, secret), { status: 200 })
      assert.deepEqual(await call(gateway, secret), { ...refused, resetsAt: second })

      // Setting the clock back does not bring back the old period.
      set(at)
      assert.deepEqual(await call(gateway, secret), { ...refused, resetsAt: second })
    })

  test('an answer that crosses the turn is charged to the period it began in', async () => {
    const secret = await gateway.key('late', 'late', ...day('UTC'), '--budget', '1')
    clock.set(Date.parse('2027-05-01T23:58:00.000Z'))
    const running = call(gateway, secret, 'late')
    while ((await ownKey(gateway, secret))['held'] === '0');
    clock.set(Date.parse('2027-05-02T00:00:01.000Z'))
    release.resolve()
    assert.deepEqual(await running, { status: 200 })
    const { spent, held } = await ownKey(gateway, secret)
    assert.deepEqual([spent, held], ['0', '0'])
    const usage = await gateway.tollgate('usage', '--key', 'late', '--since', '2027-01-01')
    assert.equal((usage['total'] as { cost: string }).cost, CALL_USD)
  })

  test('after a clock that ran ahead, `ledger verify` names the command that renews the budget', async () => {
    // Later than any period of the other keys.
    const now = Date.parse('2030-08-01T12:00:00.000Z')
    const budget = ['--budget', CALL_USD, '--when-tight', 'refuse']
    const secret = await gateway.key('ahead', 'sandbox-chat', ...day('UTC'), ...budget)
    clock.set(now + 400 * DAY_MS)
    assert.deepEqual(await call(gateway, secret), { status: 200 })
    clock.set(now)
    const refused = await call(gateway, secret)
    assert.deepEqual([refused.status, refused.resetsAt], [402, '2031-09-06T00:00:00.000Z'])
    const { ok, periods_ahead } = await gateway.tollgate('ledger', 'verify')
    const [period] = periods_ahead as readonly Record<string, string>[]
    assert.equal(ok, true)
    assert.deepEqual(
      [period?.['starts_at'], period?.['ends_at']],
      ['2031-09-05T00:00:00.000Z', '2031-09-06T00:00:00.000Z'],
    )
    const [, key = ''] =
      /^tollgate ledger reset (\S+) --reason "/.exec(period?.['mend'] ?? '') ?? []
    await gateway.tollgate('ledger', 'reset', key, '--reason', 'the clock was wrong')
    assert.deepEqual(await call(gateway, secret), { status: 200 })
    assert.equal((await ownKey(gateway, secret))['resets_at'], '2030-08-02T00:00:00.000Z')
    assert.deepEqual((await gateway.tollgate('ledger', 'verify'))['periods_ahead'], [])
  })

  test('a limit below spent stops new requests and touches nothing else', async () => {
    const models = 'sandbox-chat,late'
    const secret = await gateway.key('lowered', models, ...day('UTC'), '--budget', '1')
    assert.deepEqual(await call(gateway, secret), { status: 200 })
    const running = call(gateway, secret, 'late')
    while ((await ownKey(gateway, secret))['held'] === '0');
    await gateway.tollgate('keys', 'update', 'lowered', '--budget', '0.0001')
    assert.equal((await call(gateway, secret)).code, 'key_budget_exceeded')
    release.resolve()
    assert.deepEqual(await running, { status: 200 })
    const { spent, held, remaining } = await ownKey(gateway, secret)
    assert.deepEqual([spent, held, remaining], [TWO_CALLS_USD, '0', '0'])
    await gateway.tollgate('keys', 'update', 'lowered', '--budget', '1')
    assert.deepEqual(await call(gateway, secret), { status: 200 })
    assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
      ok: true,
      violations: [],
    })
  })
})

test('nodes whose clocks are a day off share one period and one budget', async () => {
  const database = await freshDatabase()
  const nodes: TestGateway[] = []
  for (const [name, hours] of [
    ['right', 0],
    ['slow', -26],
    ['fast', 26],
  ] as const) {
    const { env } = wrongClock(join(folder, name), hours * 3_600_000)
    nodes.push(await startGateway({ database: database.url, env }))
  }
  try {
    const [right] = nodes
    assert.ok(right)
    const rule = [...day('UTC'), '--budget', TWO_CALLS_USD, '--when-tight', 'refuse']
    const secret = await right.key('shared', 'sandbox-chat', ...rule)
    const statuses = []
    for (const node of [...nodes, ...nodes]) statuses.push((await call(node, secret)).status)
    assert.deepEqual(statuses, [200, 200, 402, 402, 402, 402])
    const shown = await Promise.all(nodes.map((node) => ownKey(node, secret)))
    const figures = shown.map(({ spent, remaining, resets_at: at }) => [spent, remaining, at])
    assert.deepEqual(figures[0]?.slice(0, 2), [TWO_CALLS_USD, '0'])
    assert.deepEqual(figures, [figures[0], figures[0], figures[0]])
    assert.partialDeepStrictEqual(await right.tollgate('ledger', 'verify', '--quiescent'), {
      ok: true,
      violations: [],
    })
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await database.drop()
  }
})
