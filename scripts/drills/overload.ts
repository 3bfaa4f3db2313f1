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
import { COMMAND } from '../../test/support/gateway.ts'
import { bareEnv, start } from '../../test/support/process.ts'
import type { Drill } from '../drill.ts'
import { tollgate } from './steps/steps.ts'

const SECONDS = 60
const TIMES = 3
const GOODPUT_LEAST = 0.8
/** Programs that do nothing on the core of the gateway but take their share of it. */
const BURNERS = 3
const [GATEWAY_CORE, LOAD_CORE] = ['0', '1']
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
    const to = { url, secret: key.trim() }
    spawnSync('taskset', ['--pid', '--cpu-list', LOAD_CORE, String(process.pid)])
    for (let burner = 0; burner < BURNERS; burner++) opened.use(pinned(BURNER))
    await measure(to, Number(seconds))
    await gateway.stop()
    const verified = await tollgate(['ledger', 'verify', '--quiescent'], database)
    assert.match(verified, /^The books balance\./)
  },
}

const BURNER = [process.execPath, '-e', 'for (;;);']

function pinned(words: readonly string[], options = {}) {
  return start('taskset', ['--cpu-list', GATEWAY_CORE, ...words], options)
}

type Service = { readonly url: string; readonly secret: string }

async function measure(to: Service, seconds: number): Promise<void> {
  await steady({ ...to, connections: BEST_CONNECTIONS, seconds: 5 })
  const best = await steady({ ...to, connections: BEST_CONNECTIONS, seconds: BEST_SECONDS })
  const bestPerSecond = best.served / best.seconds
  console.log(`at its best, ${BEST_CONNECTIONS} connections: ${textOf(best)}`)
  assert.equal(best.refused, 0)

  const perSecond = TIMES * bestPerSecond
  const over = await flood({ ...to, perSecond, seconds })
  console.log(`${TIMES} times as many, ${Math.round(perSecond)}/s: ${textOf(over)}`)
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
  /** With 503 and a time to come back. */
  refused = 0
  /** Anything else, by what it was. */
  readonly others: Record<string, number> = {}
  readonly servedMs: number[] = []
  readonly refusedMs: number[] = []
  /** Since the beginning. */
  readonly refusedAtMs: number[] = []
}

function textOf({ served, refused, seconds, servedMs, refusedMs }: Seen): string {
  const rate = Math.round(served / seconds)
  const late = (values: readonly number[]): string =>
    `p50 ${percentile(values, 0.5)} ms, p99 ${percentile(values, 0.99)} ms`
  const no = refused === 0 ? 'none with 503' : `${refused} with 503 (${late(refusedMs)})`
  return `${rate} served/s (${late(servedMs)}), ${no}`
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((one, other) => one - other)
  return (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0)
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

const BODY = JSON.stringify({
  model: 'sandbox-chat',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Who paid the toll, and why did the gate stay shut?' }],
})

class Calls implements Disposable {
  readonly #to: Service
  readonly #seen: Seen
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  readonly #startedMs = performance.now()

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
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-length': BODY.length,
      'x-tollgate-sandbox': 'tokens=50',
    }
    const note = (what: string | number | undefined, isTold = false): void => {
      this.#note(what, isTold, performance.now() - sentMs)
      resolve()
    }
    const path = `${url}/v1/chat/completions`
    const call = request(path, { method: 'POST', agent: this.#agent, headers }, (answer) => {
      answer.resume()
      answer.once('end', () => note(answer.statusCode, answer.headers['retry-after'] !== undefined))
      answer.once('error', (error) => note(error.message))
    })
    call.once('error', (error) => note(error.message))
    call.end(BODY)
    return promise
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  #note(what: string | number | undefined, isTold: boolean, tookMs: number): void {
    const seen = this.#seen
    if (what === 200) {
      seen.served += 1
      seen.servedMs.push(tookMs)
    } else if (what === 503 && isTold) {
      seen.refused += 1
      seen.refusedMs.push(tookMs)
      seen.refusedAtMs.push(performance.now() - this.#startedMs)
    } else seen.others[String(what)] = (seen.others[String(what)] ?? 0) + 1
  }
}
