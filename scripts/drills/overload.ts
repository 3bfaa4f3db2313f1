// Three times as many calls as a gateway can serve, for a minute: it must go on serving nearly as many as at its best,
// turn the others away with 503, and be itself again as soon as they stop. The gateway is slowed down by programs that
// share its core, so that the other core can load it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from '../../bench/measuring.ts'
import { cpuNs, GATEWAY_CORE, LOAD_CORE } from '../../bench/processes.ts'
import { COMMAND } from '../../test/support/gateway.ts'
import { bareEnv, start } from '../../test/support/process.ts'
import type { Drill } from '../drill.ts'
import { tollgate } from './steps/steps.ts'

const SECONDS = 60
const TIMES = 3
const GOODPUT_LEAST = 0.8
/** Programs that do nothing on the core of the gateway but take their share of it. */
const BURNERS = 3
/** Enough to keep a gateway busy, and few enough that none waits long. */
const BEST_CONNECTIONS = 32
const BEST_SECONDS = 20
/** Of all callers together: more would wait to be accepted, and not for the gateway. */
const CONNECTIONS_MAX = 1_000

export const drill: Drill = {
  summary: `sends ${TIMES} times what a gateway can serve for ${SECONDS} s (or as the option says), and measures what is served`,
  run: async ([seconds = SECONDS]) => {
    await using opened = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-overload-'))
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    const database = `sqlite:${join(folder, 'tollgate.db')}`
    writeFileSync(join(folder, 'tollgate.yaml'), 'frame: { budget: 9000000 }\n')
    const env = { ...bareEnv, TOLLGATE_DATABASE: database }
    const words = [process.execPath, COMMAND, 'serve', '--port', '0']
    const gateway = opened.use(pinned(words, { cwd: folder, env }))
    const [, url = ''] = await gateway.printed(/"event":"listening".*?"url":"([^"]+)"/)
    const limits = ['--models', 'sandbox-chat', '--budget', 'none', '--secret-only']
    const key = await tollgate(['keys', 'create', '--name', 'drill', ...limits], database)
    const to = { url, secret: key.trim(), pid: gateway.pid }
    spawnSync('taskset', ['--pid', '--cpu-list', String(LOAD_CORE), String(process.pid)])
    for (let burner = 0; burner < BURNERS; burner++) opened.use(pinned(BURNER))
    await measure(to, Number(seconds))
    await gateway.stop()
    const verified = await tollgate(['ledger', 'verify', '--quiescent'], database)
    assert.match(verified, /^The books balance\./)
  },
}

const BURNER = [process.execPath, '-e', 'for (;;);']

function pinned(words: readonly string[], options = {}) {
  return start('taskset', ['--cpu-list', String(GATEWAY_CORE), ...words], options)
}

type Service = { readonly url: string; readonly secret: string }

async function measure(to: Service & { readonly pid: number }, seconds: number): Promise<void> {
  await steady({ ...to, connections: BEST_CONNECTIONS, seconds: 5 })
  const startedNs = cpuNs(to.pid)
  const best = await steady({ ...to, connections: BEST_CONNECTIONS, seconds: BEST_SECONDS })
  const bestNs = cpuNs(to.pid)
  const bestPerSecond = best.served / best.seconds
  console.log(`at its best, ${BEST_CONNECTIONS} connections: ${textOf(best)}`)
  assert.equal(best.refused, 0)

  const perSecond = TIMES * bestPerSecond
  const over = await flood({ ...to, perSecond, seconds })
  console.log(`${TIMES} times as many, ${Math.round(perSecond)}/s: ${textOf(over)}`)
  const [alone, beside] = [
    (bestNs - startedNs) / best.served,
    (cpuNs(to.pid) - bestNs) / over.served,
  ].map((each) => (each / 1e6).toFixed(2))
  console.log(`processor time for each call served: ${alone} ms, then ${beside} ms with refusals`)
  const after = await flood({ ...to, perSecond: bestPerSecond / 2, seconds: 10 })
  console.log(`then half as many as at its best: ${textOf(after)}`)
  const recoverySeconds = calmAfter(after.refusedAtMs) / 1_000
  console.log(`it turned nobody away any more after ${recoverySeconds.toFixed(1)} s`)
  const ratio = over.served / over.seconds / bestPerSecond
  console.log(`served under overload: ${(100 * ratio).toFixed(0)} % of the best`)
  assert.deepEqual({ ...best.others, ...over.others, ...after.others }, {})
  assert.ok(ratio >= GOODPUT_LEAST, `at least ${100 * GOODPUT_LEAST} % must be served`)
  assert.ok(recoverySeconds <= 1, 'it must recover at once')
}

/** When a second began in which nothing was refused. */
function calmAfter(refusedAtMs: readonly number[]): number {
  return [0, ...refusedAtMs].find((at, index) => (refusedAtMs[index] ?? Infinity) - at > 1_000) ?? 0
}

/** What became of calls. */
class Seen {
  seconds = 0
  served = 0
  /** With 503 `overloaded`, and a time to come back. */
  refused = 0
  /** With 503 `ledger_unavailable`: the database had stood still for seconds. */
  late = 0
  /** Anything else, by what it was. */
  readonly others: Record<string, number> = {}
  readonly servedMs: number[] = []
  readonly refusedMs: number[] = []
  /** Since the beginning. */
  readonly refusedAtMs: number[] = []
}

function textOf({ served, refused, late: lateCount, seconds, servedMs, refusedMs }: Seen): string {
  const rate = Math.round(served / seconds)
  const late = (values: readonly number[]): string =>
    `p50 ${percentile(values, 0.5).toFixed(0)} ms, p99 ${percentile(values, 0.99).toFixed(0)} ms`
  const no = refused === 0 ? 'none with 503' : `${refused} with 503 (${late(refusedMs)})`
  const waited = lateCount === 0 ? '' : `, ${lateCount} because the database stood still`
  return `${rate} served/s (${late(servedMs)}), ${no}${waited}`
}

/** Calls that come at a steady pace, whatever becomes of those before them. */
async function flood({
  perSecond,
  seconds,
  ...to
}: Service & { readonly perSecond: number; readonly seconds: number }): Promise<Seen> {
  const seen = new Seen()
  using calls = new Calls(to, seen)
  const running: Promise<void>[] = []
  while (seen.seconds < seconds) {
    const due = calls.elapsedSeconds * perSecond
    while (running.length < due) running.push(calls.make())
    await pause(1)
    seen.seconds = calls.elapsedSeconds
  }
  await Promise.all(running)
  return seen
}

/** Calls of connections, each of which makes the next when it has the answer to the last. */
export async function steady({
  connections,
  seconds,
  ...to
}: Service & { readonly connections: number; readonly seconds: number }): Promise<Seen> {
  const seen = new Seen()
  using calls = new Calls(to, seen)
  const loops = Array.from({ length: connections }, async () => {
    while (calls.elapsedSeconds < seconds) await calls.make()
  })
  await Promise.all(loops)
  seen.seconds = calls.elapsedSeconds
  return seen
}

/** A whole answer and a stream, in turn. */
const BODIES = [false, true].map((stream) =>
  JSON.stringify({
    model: 'sandbox-chat',
    stream,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Who paid the toll, and why did the gate stay shut?' }],
  }),
)

/** The code of a refusal, which is small enough to come in one piece. */
function codeIn(said: string): string {
  return /"code":"(\w+)"/.exec(said)?.[1] ?? said
}

class Calls implements Disposable {
  readonly #to: Service
  readonly #seen: Seen
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  readonly #startedMs = performance.now()
  #made = 0

  constructor(to: Service, seen: Seen) {
    this.#to = to
    this.#seen = seen
  }

  get elapsedSeconds(): number {
    return (performance.now() - this.#startedMs) / 1_000
  }

  make(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { url, secret } = this.#to
    const sentMs = performance.now()
    const body = BODIES[this.#made++ % BODIES.length] ?? ''
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-length': body.length,
      'x-tollgate-sandbox': 'tokens=50',
    }
    const note = (what: string | number): void => {
      this.#note(what, performance.now() - sentMs)
      resolve()
    }
    const path = `${url}/v1/chat/completions`
    const call = request(path, { method: 'POST', agent: this.#agent, headers }, (answer) => {
      let said = ''
      answer.setEncoding('utf8').on('data', (text: string) => (said = text))
      answer.once('end', () => note(answer.statusCode === 200 ? 200 : codeIn(said)))
      answer.once('error', (error) => note(error.message))
    })
    call.once('error', (error) => note(error.message))
    call.end(body)
    return promise
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  #note(what: string | number, tookMs: number): void {
    const seen = this.#seen
    if (what === 200) {
      seen.served += 1
      seen.servedMs.push(tookMs)
    } else if (what === 'overloaded') {
      seen.refused += 1
      seen.refusedMs.push(tookMs)
      seen.refusedAtMs.push(performance.now() - this.#startedMs)
    } else if (what === 'ledger_unavailable') seen.late += 1
    else seen.others[String(what)] = (seen.others[String(what)] ?? 0) + 1
  }
}
