// What a client gets, and what the books show, for every way a provider can fail: a real gateway process between a
// client and a provider that misbehaves as its model's name says. Every test ends with balanced books.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { freePort } from '../support/process.ts'
import { until } from '../support/until.ts'
import { EVENTS, SENTENCE, STREAM } from './answers.ts'
import type { BehaviourName } from './behaviours.ts'
import { BEHAVIOURS, LEAKED_KEY, truncate } from './behaviours.ts'
import { startDeafServer } from './deaf-server.ts'
import type { Answer, Stage } from './stage.ts'
import { startStage } from './stage.ts'
import type { HostileUpstream } from './upstream.ts'
import { startUpstream } from './upstream.ts'

/** What the books show: the provider's count, our estimate, or nothing because the provider rejected the request. */
type Charged = 'counted' | 'estimated' | 'nothing'

type Case = {
  readonly does: BehaviourName
  readonly stream?: boolean
  /** 200 with a code: the error came in the stream, after the first content. */
  readonly status: number
  readonly code?: string
  readonly charged: Charged
}

const CASES: readonly Case[] = [
  { does: 'answers', status: 200, charged: 'counted' },
  { does: 'answers', stream: true, status: 200, charged: 'counted' },

  { does: 'never-closes', stream: true, status: 200, charged: 'counted' },

  { does: 'ends-in-nonsense', stream: true, status: 200, charged: 'counted' },
  { does: 'talks-on', stream: true, status: 200, charged: 'counted' },

  { does: 'hangs', status: 504, code: 'provider_timeout', charged: 'estimated' },
  { does: 'hangs', stream: true, status: 504, code: 'provider_timeout', charged: 'estimated' },
  {
    does: 'hangs-after-head',
    stream: true,
    status: 504,
    code: 'provider_timeout',
    charged: 'estimated',
  },
  {
    does: 'hangs-before-content',
    stream: true,
    status: 504,
    code: 'provider_timeout',
    charged: 'estimated',
  },
  { does: 'stalls', stream: true, status: 200, code: 'provider_timeout', charged: 'estimated' },
  { does: 'drips', stream: true, status: 504, code: 'provider_timeout', charged: 'estimated' },

  { does: 'resets', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'closes', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'no-http', status: 502, code: 'provider_failed', charged: 'estimated' },
  {
    does: 'resets-midway',
    stream: true,
    status: 200,
    code: 'provider_failed',
    charged: 'estimated',
  },
  {
    does: 'closes-midway',
    stream: true,
    status: 200,
    code: 'provider_failed',
    charged: 'estimated',
  },
  { does: 'ends-midway', stream: true, status: 200, code: 'provider_failed', charged: 'estimated' },

  { does: 'html', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'html', stream: true, status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'says-more-than-it-sends', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'sends-more-than-it-says', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'gzips', status: 502, code: 'provider_failed', charged: 'estimated' },
  { does: 'gzip-bomb', status: 502, code: 'provider_failed', charged: 'estimated' },
  {
    does: 'endless-event',
    stream: true,
    status: 502,
    code: 'provider_failed',
    charged: 'estimated',
  },
  {
    does: 'endless-answer',
    stream: true,
    status: 200,
    code: 'provider_failed',
    charged: 'estimated',
  },
  {
    does: 'endless-second-call',
    stream: true,
    status: 200,
    code: 'provider_failed',
    charged: 'estimated',
  },
  { does: 'sends-countless-blocks', status: 502, code: 'provider_failed', charged: 'counted' },
  { does: 'broken-json', stream: true, status: 502, code: 'provider_failed', charged: 'estimated' },

  { does: 'without-usage', status: 200, charged: 'estimated' },
  { does: 'without-usage', stream: true, status: 200, charged: 'estimated' },
  { does: 'usage-null', status: 200, charged: 'estimated' },
  { does: 'usage-null', stream: true, status: 200, charged: 'estimated' },
  { does: 'usage-twice', stream: true, status: 200, charged: 'counted' },
  { does: 'usage-cumulative', stream: true, status: 200, charged: 'counted' },
  { does: 'usage-negative', status: 200, charged: 'estimated' },
  { does: 'usage-fractional', status: 200, charged: 'estimated' },
  { does: 'usage-in-words', status: 200, charged: 'estimated' },
  { does: 'usage-huge', status: 200, charged: 'estimated' },
  { does: 'usage-beyond-the-limit', status: 200, charged: 'estimated' },
  { does: 'usage-beyond-the-window', stream: true, status: 200, charged: 'estimated' },

  {
    does: 'error-first',
    stream: true,
    status: 503,
    code: 'provider_overloaded',
    charged: 'nothing',
  },
  {
    does: 'error-midway',
    stream: true,
    status: 200,
    code: 'provider_overloaded',
    charged: 'estimated',
  },
  { does: 'redirects', status: 502, code: 'provider_failed', charged: 'nothing' },
  // What a provider reports about the request reaches the client, with the provider's own code.
  { does: 'says-400', status: 400, code: 'some_code', charged: 'nothing' },
  { does: 'says-401', status: 502, code: 'provider_failed', charged: 'nothing' },
  { does: 'says-404', status: 502, code: 'provider_failed', charged: 'nothing' },
  { does: 'says-413', status: 413, code: 'some_code', charged: 'nothing' },
  { does: 'says-429', status: 429, code: 'provider_rate_limited', charged: 'nothing' },
  { does: 'says-500', status: 502, code: 'provider_failed', charged: 'nothing' },
  { does: 'says-503', status: 503, code: 'provider_overloaded', charged: 'nothing' },
  { does: 'says-504', status: 504, code: 'provider_timeout', charged: 'estimated' },
]

/** Short only for providers that never answer: everywhere else a slow machine has the usual time, or more. */
const TIMEOUTS: Readonly<Record<string, string>> = {
  hangs: 'first_byte: 300ms',
  'hangs-after-head': 'idle: 300ms',
  'hangs-before-content': 'idle: 300ms',
  stalls: 'idle: 500ms',
  drips: 'idle: 30s, total: 1500ms',
  'never-connects': 'connect: 300ms',
  // With a distant or missing name server, a failed lookup takes a while.
  'has-no-address': 'connect: 1m',
}

/** The cost of the recorded request by the provider's count: 12 tokens at 1 USD and 7 at 2 USD per million. */
const COUNTED_USD = '0.000026'

/** The explanation in the books. */
const WHY: Readonly<Record<Charged, RegExp>> = {
  counted: /^the provider’s count at this price$/,
  estimated: /^the provider reported no usable count, so what was received was counted/,
  nothing: /^no provider took it, so it cost nothing$/,
}

/** Several targets, so that a series of failures does not make one rest. */
const CUTTERS = Array.from({ length: 8 }, (_, index) => `truncates-${index}`)

/** Disposed in reverse order, however far the setup came. */
const opened = new AsyncDisposableStack()
let upstream: HostileUpstream
let stage: Stage

before(async () => {
  const cutters = Object.fromEntries(CUTTERS.map((name) => [name, truncate]))
  upstream = opened.use(await startUpstream({ ...BEHAVIOURS, ...cutters }))
  const deaf = opened.use(await startDeafServer())
  const plain = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await once(plain.listen(0, '127.0.0.1'), 'listening')
  opened.defer(() => void plain.close())
  const elsewhere: Record<string, string> = {
    'refuses-connections': `http://127.0.0.1:${await freePort()}/v1`,
    'has-no-address': 'http://no-such-host.invalid/v1',
    'speaks-no-tls': `https://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`,
    'never-connects': deaf.url,
  }
  const here = [...Object.keys(BEHAVIOURS), ...CUTTERS]
  const models = [...here, ...Object.keys(elsewhere)]
  stage = opened.use(await startStage(configOf(here, elsewhere), models))
})

after(() => opened.disposeAsync())

afterEach(async () => assert.deepEqual(await stage.verify(), []))

for (const { does, stream = false, status, code, charged } of CASES)
  test(`a provider that ${does}${stream ? ', streaming' : ''}: ${status} ${code ?? ''}`, async () => {
    const answer = await stage.ask(does, { stream })
    assert.equal(answer.status, status, answer.text)
    assert.equal(answer.errorCode, code)
    assert.equal(answer.isComplete, code === undefined)
    assert.doesNotMatch(answer.text, new RegExp(LEAKED_KEY))
    assert.equal(await chargeOf(answer), charged)
    assert.match((await stage.explain(answer)).why, WHY[charged])
    // A client that paid for a failure must not pay again because its SDK retries by itself.
    if (status >= 500 && charged === 'estimated') {
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    }
    // Nor can a retry fix an account at the provider.
    if (does === 'says-401' || does === 'says-404') {
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    }
  })

for (const [does, status] of [
  ['refuses-connections', 502],
  ['has-no-address', 502],
  ['speaks-no-tls', 502],
  ['never-connects', 504],
] as const)
  test(`a provider that ${does}: ${status}, and nothing is charged`, async () => {
    const answer = await stage.ask(does)
    assert.equal(answer.status, status, answer.text)
    assert.equal(await chargeOf(answer), 'nothing')
    assert.notEqual(answer.headers.get('x-should-retry'), 'false')
  })

test('the log never shows a provider’s credentials', async () => {
  await stage.ask('says-401')
  await stage.ask('error-midway', { stream: true })
  assert.doesNotMatch(JSON.stringify(stage.gateway.log()), new RegExp(LEAKED_KEY))
})

test('a provider that keeps talking after the end is disconnected', async () => {
  assert.ok((await stage.ask('talks-on', { stream: true })).isComplete)
  await upstream.requests.at(-1)?.closed
})

test('an answer held back in memory is limited to 64 MB', async () => {
  const model = 'endless-second-call'
  const response = await fetch(`${stage.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await stage.gateway.key('patient', model)}` },
    body: JSON.stringify({ model, stream: true, input: 'When does the gate open?' }),
  })
  assert.match(await response.text(), /event: response.failed\n.*too long: more than 64 MB/)
  assert.ok(Number((await stage.logOf(response))['cost']) > 0)
})

test('a redirect is not followed', async () => {
  const before = upstream.requests.length
  await stage.ask('redirects')
  assert.equal(upstream.requests.length, before + 1)
})

test('compression is never requested', async () => {
  await stage.ask('answers')
  assert.equal(upstream.requests.at(-1)?.headers.get('accept-encoding'), 'identity')
})

test('an unrequested response reaches no client', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const first = await stage.ask('extra-response')
    assert.equal(first.status, 200, first.text)
    const next = await stage.ask('answers')
    assert.equal(next.status, 200, next.text)
    assert.doesNotMatch(first.text + next.text, /somebody-else/)
  }
})

test('a stream cut after any byte is either complete or ends in an error', async () => {
  const bytes = Buffer.byteLength(STREAM)
  const contentAt = Buffer.byteLength(EVENTS.start + EVENTS.pieces[0])
  // The usage follows everything else, so it marks the end as well as the marker after it.
  const completeAt = bytes - Buffer.byteLength(EVENTS.done)
  const cuts = Array.from({ length: bytes + 1 }, (_, at) => at)
  const cut = async (model: string, at: number): Promise<void> => {
    const answer = await stage.ask(model, { stream: true, content: String(at) })
    assert.equal(answer.status, at < contentAt ? 502 : 200, `cut after ${at} bytes`)
    assert.equal(answer.isComplete, at >= completeAt, `cut after ${at} bytes`)
    assert.equal(answer.errorCode, at < completeAt ? 'provider_failed' : undefined)
    assert.ok(SENTENCE.startsWith(answer.content))
  }
  await Promise.all(
    CUTTERS.map(async (model) => {
      let asked = 0
      for (let at = cuts.pop(); at !== undefined; at = cuts.pop()) {
        await cut(model, at)
        await cut(model, bytes)
        asked += 2
      }
      for (const { cost, estimated } of await stage.logsOf(model, asked)) {
        assert.ok(Number(cost) > 0)
        assert.equal(estimated, cost === COUNTED_USD ? undefined : true)
      }
    }),
  )
})

for (const does of ['hangs', 'stalls'] as const)
  test(`a call to a provider that ${does} ends soon after its client leaves`, async () => {
    const model = `${does}-for-long` as const
    const client = new AbortController()
    const answer = stage.ask(model, { stream: true, signal: client.signal })
    await until(() => upstream.asked(model) > 0)
    const leftAt = performance.now()
    client.abort()
    await assert.rejects(answer)
    await upstream.requests.at(-1)?.closed
    // Half a second for the usage of a stream that has begun; the rest allows for slow machines.
    assert.ok(performance.now() - leftAt < 30_000)
    const [line] = await stage.logsOf(model, 1)
    assert.equal(line?.['status'], 499)
    assert.ok(Number(line?.['cost']) > 0)
  })

async function chargeOf(answer: Answer): Promise<Charged> {
  const { cost, estimated } = await stage.logOf(answer)
  if (estimated === true) {
    assert.ok(Number(cost) > 0)
    return 'estimated'
  }
  if (cost === '0') return 'nothing'
  assert.equal(cost, COUNTED_USD)
  return 'counted'
}

function configOf(here: readonly string[], elsewhere: Readonly<Record<string, string>>): string {
  const model = (name: string, provider: string): string =>
    `  ${name}: { targets: [{ to: ${provider}/${name}, timeouts: { ${TIMEOUTS[name] ?? ''} } }], ` +
    'price: { input: 1, output: 2 }, context: 100000, max_output: 1000 }'
  return [
    'sandbox: false',
    'providers:',
    `  hostile: { kind: openai, base_url: "${upstream.url}", api_key: ${LEAKED_KEY} }`,
    ...Object.entries(elsewhere).map(
      ([name, base]) => `  ${name}: { kind: openai, base_url: "${base}" }`,
    ),
    'models:',
    ...here.map((name) => model(name, 'hostile')),
    ...Object.keys(elsewhere).map((name) => model(name, name)),
    '',
  ].join('\n')
}
