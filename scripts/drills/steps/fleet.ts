// Several nodes over one PostgreSQL behind haproxy, as deploy/ has it, and applications that call them all the time.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { COMMAND } from '../../../test/support/gateway.ts'
import { freshDatabase } from '../../../test/support/postgres/postgres.ts'
import {
  bareEnv,
  freePort,
  start,
  type Ended,
  type Running,
} from '../../../test/support/process.ts'
import { until } from '../../../test/support/until.ts'
import { adapted } from '../../deploy/proxies.ts'
import { systemProgram } from '../../deploy/tools.ts'
import { tollgate } from './steps.ts'

export type Fleet = AsyncDisposable & {
  /** Of the proxy. */
  readonly url: string
  readonly nodes: readonly Node[]
  /** A key without a limit of its own. */
  readonly secret: string
  /** Fails unless the books balance. */
  verify(): Promise<void>
  /** Once nothing is held any more, by a dead node either: stops all nodes, and fails unless the books balance. Returns what they say about each call. */
  close(): Promise<readonly Charged[]>
}

/** A row of the books. */
export type Charged = {
  readonly requestId: string
  readonly state: 'settled' | 'voided' | 'orphaned' | 'adjusted'
  readonly heldNanodollars: bigint
  readonly costNanodollars: bigint
}

type FleetOptions = {
  /** Where the books are; a database of its own by default. */
  readonly database?: string
  /** Lines of the configuration of each node. */
  readonly config?: string
}

export async function startFleet(count: number, options: FleetOptions = {}): Promise<Fleet> {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-fleet-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { database = await freshUrl(opened), config = '' } = options
  const nodes: Node[] = []
  for (let number = 1; number <= count; number++) {
    const node = new Node(join(folder, `node${number}`), { database, config }, await freePort())
    opened.defer(async () => void (await node.stop('SIGKILL')))
    await node.begin()
    nodes.push(node)
  }
  const words = ['--name', 'fleet', '--models', 'sandbox-chat', '--budget', 'none', '--secret-only']
  const secret = (await tollgate(['keys', 'create', ...words], database)).trim()
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, proxyText(port, nodes))
  const proxy = start(systemProgram('haproxy'), ['-db', '-f', file])
  opened.defer(async () => void (await proxy.stop('SIGKILL')))
  const url = `http://127.0.0.1:${port}`
  // It takes all nodes for healthy until it has asked them.
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true)
  const everything = opened.move()
  return {
    ...{ url, nodes, secret },
    verify: async () => {
      assert.match(await tollgate(['ledger', 'verify'], database), /^The books balance\./)
    },
    close: async () => {
      await until(async () => (await rowsOf(database, 'select 1 from holds limit 1')).length === 0)
      await Promise.all(nodes.map((node) => node.stop('SIGTERM')))
      const verified = await tollgate(['ledger', 'verify', '--quiescent'], database)
      assert.match(verified, /^The books balance\./)
      return chargedIn(database)
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  }
}

async function freshUrl(opened: AsyncDisposableStack): Promise<string> {
  const fresh = await freshDatabase()
  opened.defer(() => fresh.drop())
  return fresh.url
}

async function chargedIn(database: string): Promise<readonly Charged[]> {
  const columns = 'request_id, state, held_nanodollars, cost_nanodollars'
  return (await rowsOf(database, `select ${columns} from usage`)).map((row) => ({
    requestId: row['request_id'] ?? '',
    state: row['state'] as Charged['state'],
    heldNanodollars: BigInt(row['held_nanodollars'] ?? 0),
    costNanodollars: BigInt(row['cost_nanodollars'] ?? 0),
  }))
}

async function rowsOf(database: string, query: string): Promise<readonly Record<string, string>[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    return (await client.query<Record<string, string>>(query)).rows
  } finally {
    await client.end()
  }
}

/** As in deploy/, but for one port without TLS, and a line for each node. */
function proxyText(port: number, nodes: readonly Node[]): string {
  const lines = nodes.map((node, index) => `server node${index + 1} 127.0.0.1:${node.port}`)
  return adapted('deploy/haproxy/haproxy.cfg', [
    [/maxconn 20000/g, 'maxconn 500'],
    [/bind :80\n/g, `bind 127.0.0.1:${port}\n`],
    [/ +bind :443 .*\n/g, ''],
    [/ +http-request redirect .*\n/g, ''],
    [/server node1 127\.0\.0\.1:4000/g, lines.join('\n  ')],
  ])
}

/** One serving process, which can be started again at the same port. */
export class Node {
  readonly port: number
  readonly #folder: string
  readonly #database: string
  #running: Running | undefined

  constructor(folder: string, given: Required<FleetOptions>, port: number) {
    this.#folder = folder
    this.#database = given.database
    this.port = port
    mkdirSync(folder)
    // haproxy asks every 2 seconds, and twice.
    const text = `server: { deregister: 5s }\n${given.config}`
    writeFileSync(join(folder, 'tollgate.yaml'), text)
  }

  async begin(): Promise<void> {
    const env = {
      ...bareEnv,
      TOLLGATE_DATABASE: this.#database,
      TOLLGATE_SECRET: 'a secret for drills, long enough to be taken',
    }
    const words = [COMMAND, 'serve', '--port', String(this.port)]
    this.#running = start(process.execPath, words, { cwd: this.#folder, env })
    await this.#running.printed(/"event":"listening"/)
  }

  /** Its exit code, and what it printed. */
  async stop(signal: NodeJS.Signals): Promise<Ended> {
    if (this.#running === undefined) throw new Error('the node was never started')
    return this.#running.stop(signal)
  }

  /** Since it was last started. */
  async hasServed(): Promise<void> {
    await this.#running?.printed(/"event":"request".*"path":"\/v1\/chat/)
  }
}

type Served = { readonly requestId: string; readonly askedMs: number; readonly endedMs: number }

/** A client whose call was refused does not ask again at once. */
const REFUSED_PAUSE_MS = 100

/** Applications that never stop calling: each asks for a whole answer, then for a stream, and so on. */
export class Applications {
  readonly counts = { answers: 0, streams: 0, late: 0 }
  /** Those that were answered to their end; the times are of `performance.now()`. */
  readonly served: Served[] = []
  /** What was asked for and not answered, and streams that ended before their end; each as it looked to its client. */
  readonly lost: string[] = []
  readonly cut: string[] = []
  #isOver = false
  readonly #loops: readonly Promise<void>[]

  constructor({ url, secret }: Pick<Fleet, 'url' | 'secret'>, count: number) {
    const call = (stream: boolean): Promise<Response> =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'x-tollgate-sandbox': stream ? 'tokens=50 gap=20ms' : 'tokens=20',
        },
        body: JSON.stringify({
          model: 'sandbox-chat',
          stream,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      })
    this.#loops = Array.from({ length: count }, async () => {
      while (!this.#isOver) {
        await this.#whole(call(false))
        await this.#stream(call(true))
      }
    })
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
  }

  async #whole(asked: Promise<Response>): Promise<void> {
    const askedMs = performance.now()
    const answer = await this.#begun(asked)
    if (answer === undefined) return
    await answer.json().then(
      () => {
        this.counts.answers += 1
        this.#serve(answer, askedMs)
      },
      (thrown: unknown) => this.lost.push(String(thrown)),
    )
  }

  async #stream(asked: Promise<Response>): Promise<void> {
    const askedMs = performance.now()
    const answer = await this.#begun(asked)
    if (answer === undefined) return
    const text = await answer.text().catch((thrown: unknown) => String(thrown))
    if (!text.endsWith('data: [DONE]\n\n')) return void this.cut.push(text.slice(-200))
    this.counts.streams += 1
    this.#serve(answer, askedMs)
  }

  #serve({ headers }: Response, askedMs: number): void {
    const requestId = headers.get('x-request-id') ?? ''
    this.served.push({ requestId, askedMs, endedMs: performance.now() })
  }

  async #begun(asked: Promise<Response>): Promise<Response | undefined> {
    try {
      const answer = await asked
      if (answer.ok) return answer
      const refusal = await answer.text()
      // A machine without time to spare for its database is no loss of a restart: the next call asks again.
      if (refusal.includes('"ledger_unavailable"')) this.counts.late += 1
      else this.lost.push(`${answer.status} ${refusal}`)
    } catch (thrown) {
      const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
      this.lost.push(String(cause))
    }
    await pause(REFUSED_PAUSE_MS)
    return undefined
  }
}

/** Why no fleet can be started here, for a test that is then skipped. */
export function fleetLacks(): string | undefined {
  try {
    systemProgram('haproxy')
    return undefined
  } catch {
    return 'haproxy is neither installed nor can it be installed here'
  }
}
