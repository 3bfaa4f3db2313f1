// Two or three targets, one of which fails: requests move on, conversations stay where they are, nobody pays twice for
// output, and a failing provider is left alone.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { freePort } from '../support/process.ts'
import { until } from '../support/until.ts'
import { SENTENCE } from './answers.ts'
import { BEHAVIOURS } from './behaviours.ts'
import type { Answer, Stage } from './stage.ts'
import { startStage } from './stage.ts'
import type { Behaviour, HostileUpstream } from './upstream.ts'
import { startUpstream } from './upstream.ts'

/** Everything that can go wrong before the first content of a stream, and whether the provider may bill for it. */
const BEFORE_CONTENT = {
  'refuses-connections': 'free',
  hangs: 'billed',
  'hangs-after-head': 'billed',
  'hangs-before-content': 'billed',
  resets: 'billed',
  closes: 'billed',
  'no-http': 'billed',
  html: 'billed',
  gzips: 'billed',
  'endless-event': 'billed',
  'broken-json': 'billed',
  'error-first': 'free',
  redirects: 'free',
  'says-401': 'free',
  'says-404': 'free',
  'says-429': 'free',
  'says-500': 'free',
  'says-503': 'free',
  'says-504': 'billed',
} as const
type Failing = keyof typeof BEFORE_CONTENT
const FAILING = Object.keys(BEFORE_CONTENT) as readonly Failing[]

/** `REQUESTS=10000 node --test FILE` is the long version. */
const REQUESTS = Number(process.env['REQUESTS'] ?? 2_000)
const AT_A_TIME = 32

/** Disposed in reverse order, however far the setup came. */
const opened = new AsyncDisposableStack()
let upstream: HostileUpstream
let stage: Stage
/** The behaviour of the three equal targets, which tests change. */
const equal: Record<string, Behaviour> = {
  'equal-a': BEHAVIOURS.answers,
  'equal-b': BEHAVIOURS.answers,
  'equal-c': BEHAVIOURS.answers,
}

/** Three of ten requests fail, never two in a row. */
const brownout: Behaviour = (socket, request) => {
  const isBad = [0, 3, 6].includes(upstream.asked('brownout') % 10)
  return BEHAVIOURS[isBad ? 'says-500' : 'answers'](socket, request)
}

before(async () => {
  upstream = opened.use(
    await startUpstream(
      new Proxy<Record<string, Behaviour>>(
        {},
        {
          get: (_, name: string) =>
            name === 'brownout' ? brownout : (equal[name] ?? BEHAVIOURS[baseOf(name)]),
        },
      ),
    ),
  )
  const models = {
    ...Object.fromEntries(FAILING.map((name) => [`with-${name}`, pair(name)])),
    ...Object.fromEntries(FAILING.map((name) => [`then-${name}`, fallback(name)])),
    'with-resets-midway': pair('resets-midway'),
    equal: 'targets: [hostile/equal-a, hostile/equal-b, hostile/equal-c]',
    'alone-says-429': 'targets: [hostile/says-429-alone]',
    'alone-says-500': 'targets: [hostile/says-500-alone]',
    'turned-away': 'targets: [hostile/says-401-away], fallbacks: [hostile/says-404-away]',
    'half-turned-away': 'targets: [hostile/says-500-away], fallbacks: [hostile/says-401-away]',
    'alone-resets-after-silence': 'targets: [hostile/resets-after-silence-alone]',
    'then-resets-after-silence':
      'targets: [hostile/resets-after-silence], fallbacks: [hostile/answers]',
    tight: fallback('hangs', '-tight'),
    brownout: 'targets: [hostile/brownout], fallbacks: [hostile/answers]',
  }
  const figures = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  const onlyFallbacks = ['answers-tight', 'says-401-away', 'says-404-away']
  const said = onlyFallbacks.map((name) => `${name}: { ${figures} }`).join(', ')
  const config = [
    'sandbox: false',
    'providers:',
    `  hostile: { kind: openai, base_url: "${upstream.url}", api_key: sk-hostile, models: { ${said} } }`,
    `  refusing: { kind: openai, base_url: "http://127.0.0.1:${await freePort()}/v1" }`,
    'models:',
    ...Object.entries(models).map(([name, targets]) => `  ${name}: { ${targets}, ${figures} }`),
    '',
  ].join('\n')
  stage = opened.use(await startStage(config, Object.keys(models)))
})

after(() => opened.disposeAsync())

afterEach(async () => assert.deepEqual(await stage.verify(), []))

for (const failing of FAILING)
  test(`a fallback takes over from a target that ${failing}`, async () => {
    const answer = await stage.ask(`then-${failing}`, { stream: true })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.content, SENTENCE)
    assert.equal(answer.headers.get('x-tollgate-target'), 'hostile/answers')
    const { row, lines, attempts, agrees } = await stage.explain(answer)
    assert.equal(row.modelServed, 'answers')
    assert.deepEqual(
      attempts.map(({ target }) => target.split('/')[1]),
      [failing, 'answers'],
    )
    // What may be billed is lines of its own, beside the input and the output of the answer. A target that did not
    // answer in time may have written, too.
    const isLate = failing.startsWith('hangs') || failing === 'says-504'
    const counts = lines.map(({ what, count }) => `${what} ${count}`)
    assert.deepEqual(counts.slice(0, 2), ['input 12', 'output 7'])
    assert.equal(counts.length, BEFORE_CONTENT[failing] === 'billed' ? (isLate ? 4 : 3) : 2)
    assert.match(counts[2] ?? 'input 1', /^input [1-9]/)
    assert.match(counts[3] ?? 'output 1', /^output [1-9]/)
    assert.ok(agrees)
  })

test('requests succeed while one of two targets fails before its first content', async (t) => {
  const served: number[] = []
  const failed: string[] = []
  let left = REQUESTS
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (left-- > 0) {
        const failing = FAILING[left % FAILING.length]
        const startedMs = performance.now()
        // Every request is its own conversation, so that each target is the first choice of some.
        const asked = { stream: true, content: `request ${left}` }
        const answer = await stage.ask(`with-${failing}`, asked)
        if (answer.isComplete && answer.content === SENTENCE) {
          served.push(performance.now() - startedMs)
        } else failed.push(answer.text)
      }
    }),
  )
  const p99 = served.toSorted((one, other) => one - other)[Math.floor(served.length * 0.99)] ?? 0
  t.diagnostic(`${served.length} of ${REQUESTS} served, p99 ${p99.toFixed()} ms`)
  assert.ok(served.length >= REQUESTS * 0.999, failed.slice(0, 5).join('\n'))
  assert.equal(await outputTokensOf('with-'), served.length * 7, 'no output is charged twice')
})

test('a target that fails more often than the retry budget allows costs no request', async () => {
  let left = 2_000
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (left-- > 0) {
        const { status, text } = await stage.ask('brownout', { content: `request ${left}` })
        assert.equal(status, 200, text)
      }
    }),
  )
})

test('failures after the first content end in an error, and the target rests', async () => {
  const startedMs = performance.now()
  const answers: Answer[] = []
  let left = 1_000
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (left-- > 0) {
        const asked = { stream: true, content: `request ${left}` }
        answers.push(await stage.ask('with-resets-midway', asked))
      }
    }),
  )
  const failed = answers.filter(({ isComplete }) => !isComplete)
  for (const { status, errorCode } of failed) {
    assert.deepEqual([status, errorCode], [200, 'provider_failed'])
  }
  const probes = Math.ceil((performance.now() - startedMs) / 1_000)
  assert.ok(failed.length > 0)
  assert.ok(failed.length <= AT_A_TIME + 5 + probes, `${failed.length} failed`)
})

test('a conversation stays on one of three targets, and moves when that one fails', async () => {
  const turn = async (content = 'a conversation'): Promise<string> => {
    const answer = await stage.ask('equal', { content })
    assert.equal(answer.status, 200, answer.text)
    return answer.headers.get('x-tollgate-target')?.split('/')[1] ?? ''
  }
  const home = await turn()
  for (let turns = 1; turns < 100; turns++) assert.equal(await turn(), home)
  equal[home] = BEHAVIOURS['says-500']
  const refuge = await turn()
  assert.notEqual(refuge, home)
  for (let turns = 1; turns < 20; turns++) assert.equal(await turn(), refuge)
  assert.ok(upstream.asked(home) <= 100 + 5 + 5, 'after five failures only probes go there')
  equal[home] = BEHAVIOURS.answers
  await until(async () => (await turn()) === home)
})

test('a session named by the client stays on one target, whatever is said in it', async () => {
  const targets = new Set<string | null>()
  for (let turn = 0; turn < 20; turn++) {
    const headers = { 'x-session-id': 'a session' }
    const answer = await stage.ask('equal', { content: `turn ${turn}`, headers })
    targets.add(answer.headers.get('x-tollgate-target'))
  }
  assert.equal(targets.size, 1)
})

test('a provider that sends a retry-after is not called until then', async () => {
  const first = await stage.ask('alone-says-429')
  assert.equal(first.headers.get('retry-after'), '7')
  const second = await stage.ask('alone-says-429')
  assert.deepEqual([second.status, second.errorCode], [429, 'provider_rate_limited'])
  const seconds = Number(second.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 7)
  assert.equal(upstream.asked('says-429-alone'), 1)
})

test('a retry is advised as long as one target might answer it', async () => {
  for (const [model, mayRetry] of [
    ['turned-away', 'false'],
    ['half-turned-away', 'true'],
  ] as const) {
    const answer = await stage.ask(model)
    assert.deepEqual([answer.status, answer.errorCode], [502, 'provider_failed'])
    assert.equal(answer.headers.get('x-should-retry'), mayRetry, model)
  }
})

test('a target that fails five times in a row rests, and is probed afterwards', async () => {
  let asked = 0
  // On a slow machine the rest may be over before the next request, which then is a probe.
  const refused = await until(async () => {
    const answer = await stage.ask('alone-says-500')
    if (answer.status === 503) return answer
    assert.equal(answer.status, 502)
    asked += 1
    return undefined
  })
  assert.equal(refused.errorCode, 'provider_overloaded')
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.ok(asked >= 5)
  assert.equal(upstream.asked('says-500-alone'), asked)
  await until(async () => {
    await stage.ask('alone-says-500')
    return upstream.asked('says-500-alone') > asked
  })
})

test('a long silence is broken by keep-alives, and another target can still take over', async () => {
  const [served, failed] = await Promise.all([
    stage.ask('then-resets-after-silence', { stream: true }),
    stage.ask('alone-resets-after-silence', { stream: true }),
  ])
  for (const { text } of [served, failed]) assert.match(text, /^: keepalive\n[^\n]/)
  assert.ok(served.isComplete)
  assert.equal(served.content, SENTENCE)
  assert.equal((await stage.explain(served)).row.modelServed, 'answers')
  // The head was sent before any target answered, so it names none.
  assert.equal(served.headers.get('x-tollgate-target'), null)
  assert.deepEqual([failed.status, failed.errorCode], [200, 'provider_failed'])
})

test('a second attempt is made only if the budget covers paying twice', async () => {
  // Covers 1,000 output tokens and a few hundred input tokens, but not those of a second attempt.
  const worstCase = await worstCaseOf('tight')
  const poor = await stage.gateway.key('poor', 'tight', '--budget', worstCase)
  const asked = upstream.asked('answers-tight')
  const answer = await stage.ask('tight', { secret: poor })
  assert.deepEqual([answer.status, answer.errorCode], [504, 'provider_timeout'])
  assert.equal(upstream.asked('answers-tight'), asked)
  const rich = await stage.ask('tight')
  assert.equal(rich.status, 200, rich.text)
  assert.equal(upstream.asked('answers-tight'), asked + 1)
})

/** A failing target beside one that answers, of equal weight. */
function pair(failing: string): string {
  return `targets: [${targetOf(failing)}, hostile/answers]`
}

function fallback(failing: string, mark = ''): string {
  return `targets: [${targetOf(failing, mark)}], fallbacks: [hostile/answers${mark}]`
}

/**
 * Only targets that never answer have short timeouts, so that a late answer on a slow machine does not count as none.
 */
function targetOf(failing: string, mark = ''): string {
  const place = `${placeOf(failing)}${mark}`
  const isSilent = failing.startsWith('hangs')
  return isSilent ? `{ to: ${place}, timeouts: { first_byte: 500ms, idle: 500ms } }` : place
}

function placeOf(failing: string): string {
  return failing === 'refuses-connections' ? `refusing/${failing}` : `hostile/${failing}`
}

/** The behaviour behind a target's name; a suffix gives a test its own target, which no other test has made rest. */
function baseOf(name: string): keyof typeof BEHAVIOURS {
  return name.replace(/-(alone|away|tight)$/, '') as keyof typeof BEHAVIOURS
}

async function outputTokensOf(prefix: string): Promise<number> {
  const { rows } = (await stage.gateway.tollgate('usage', '--by', 'model')) as {
    rows: readonly { readonly model: string; readonly output_tokens: number }[]
  }
  return rows
    .filter(({ model }) => model.startsWith(prefix))
    .reduce((sum, row) => sum + row.output_tokens, 0)
}

async function worstCaseOf(model: string): Promise<string> {
  const { text } = await stage.ask(model, { headers: { 'x-tollgate-dry-run': '1' } })
  return (JSON.parse(text) as { worst_case: string }).worst_case
}
