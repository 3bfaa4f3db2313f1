// Tollgate as a contender, started as its users start it, with everything on: keys with an allowlist, a budget and a
// rate limit, the frame, the ledger on disk, the usage record, the log.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/core/clock.ts'
import { BUDGET_MAX } from '../../src/core/money.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { SAMPLE_FRAME } from '../../src/store/sample-frame.ts'
import { createKey } from '../../src/store/key-changes.ts'
import { openStore } from '../../src/store/open.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'
import type { Upstreams } from './servers.ts'

export type Tollgate = Running & BenchKeys

/** Keys that may make every request of the benchmark. */
export type BenchKeys = {
  readonly secrets: readonly string[]
  readonly keyIds: readonly string[]
  /** The secret of a key whose budget is spent. */
  readonly poorSecret: string
}

export type TollgateOptions = {
  readonly name: string
  readonly folder: string
  readonly upstreams: Upstreams
  readonly database?: string
  /** A program other than the usual one. */
  readonly program?: string
}

export const MODELS = {
  chat: 'bench-chat',
  stream: 'bench-stream',
  slow: 'bench-slow',
  embedding: 'bench-embedding',
}
const KEYS = 10

const LAUNCHER = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))

export async function startTollgate(options: TollgateOptions): Promise<Tollgate> {
  const folder = join(options.folder, options.name)
  mkdirSync(folder, { recursive: true })
  const database = options.database ?? `sqlite:${join(folder, 'tollgate.db')}`
  const configFile = join(folder, 'tollgate.yaml')
  writeFileSync(configFile, configOf(options.upstreams))
  const keys = await makeKeys(database)
  const running = await start({
    name: options.name,
    command: [process.execPath, options.program ?? LAUNCHER, 'serve', '--port', '0'],
    core: GATEWAY_CORE,
    env: {
      TOLLGATE_CONFIG: configFile,
      TOLLGATE_DATABASE: database,
      TOLLGATE_SECRET: 'a secret for benchmarks, long enough to be taken',
    },
    logFile: join(folder, 'log'),
    ready: /"event":"listening".*?"url":"([^"]+)"/,
  })
  return { ...running, ...keys }
}

function configOf({ whole, streams }: Upstreams): string {
  const facts = 'price: { input: 0.05, output: 0.40 }, context: 131072'
  return `
frame: { budget: 9000000 }
providers:
  whole: { kind: openai, base_url: "${whole.url}/v1", api: chat, api_key: none }
  streams: { kind: openai, base_url: "${streams.url}/v1", api: chat, api_key: none }
models:
  ${MODELS.chat}: { targets: [whole/constant], ${facts}, max_output: 8192 }
  ${MODELS.stream}: { targets: [streams/constant], ${facts}, max_output: 8192 }
  ${MODELS.slow}: { targets: [streams/slow], ${facts}, max_output: 8192 }
  ${MODELS.embedding}: { kind: embedding, targets: [whole/constant], ${facts} }
`
}

export async function makeKeys(database: string): Promise<BenchKeys> {
  const store = await openStore(database, { clock: systemClock })
  try {
    await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: BUDGET_MAX })
    const make = (name: string, limitNanodollars: bigint) => {
      const models = Object.values(MODELS)
      const rpm = 100_000_000
      return createKey(store, { name, models, limitNanodollars, rpm })
    }
    const secrets: string[] = []
    const keyIds: string[] = []
    for (let index = 0; index < KEYS; index++) {
      const { secret, key } = await make(`application ${index}`, BUDGET_MAX / 10n)
      secrets.push(secret)
      keyIds.push(key.id)
    }
    return { secrets, keyIds, poorSecret: (await make('without money', 0n)).secret }
  } finally {
    await store.close()
  }
}
