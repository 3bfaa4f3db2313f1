// Several nodes over one PostgreSQL behind haproxy, as deploy/ has it, and applications that call them all the time.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
}

export async function startFleet(count: number): Promise<Fleet> {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-fleet-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const fresh = await freshDatabase()
  opened.defer(() => fresh.drop())
  const { url: database } = fresh
  const nodes: Node[] = []
  for (let number = 1; number <= count; number++) {
    const node = new Node(join(folder, `node${number}`), database, await freePort())
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
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
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

  constructor(folder: string, database: string, port: number) {
    this.#folder = folder
    this.#database = database
    this.port = port
    mkdirSync(folder)
    // haproxy asks every 2 seconds, and twice.
    writeFileSync(join(folder, 'tollgate.yaml'), 'server: { deregister: 5s }\n')
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

/** Applications that never stop calling: each asks for a whole answer, then for a stream, and so on. */
export class Applications {
  readonly counts = { answers: 0, streams: 0, late: 0 }
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
    const answer = await this.#begun(asked)
    if (answer === undefined) return
    await answer.json().then(
      () => (this.counts.answers += 1),
      (thrown: unknown) => this.lost.push(String(thrown)),
    )
  }

  async #stream(asked: Promise<Response>): Promise<void> {
    const answer = await this.#begun(asked)
    if (answer === undefined) return
    const text = await answer.text().catch((thrown: unknown) => String(thrown))
    if (text.endsWith('data: [DONE]\n\n')) this.counts.streams += 1
    else this.cut.push(text.slice(-200))
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
    return undefined
  }
}
