// Tollgate as a contender, started as its users start it, with everything on: keys with an allowlist, a budget and a
// rate limit, the frame, the ledger on disk, the usage record, the log.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcherOf, THIS_CHECKOUT, tollgate } from '../checkout.ts'
import type { Checkout } from '../checkout.ts'
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
  readonly checkout?: Checkout
  /** A program other than the usual one. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
}

export const MODELS = {
  chat: 'bench-chat',
  stream: 'bench-stream',
  slow: 'bench-slow',
  embedding: 'bench-embedding',
}
const KEYS = 10
/** In USD: the most that a budget can be. */
const FRAME_BUDGET = '9000000'
const KEY_BUDGET = '900000'

export async function startTollgate(options: TollgateOptions): Promise<Tollgate> {
  const folder = join(options.folder, options.name)
  mkdirSync(folder, { recursive: true })
  const database = options.database ?? `sqlite:${join(folder, 'tollgate.db')}`
  const configFile = join(folder, 'tollgate.yaml')
  writeFileSync(configFile, configOf(options.upstreams))
  const checkout = options.checkout ?? THIS_CHECKOUT
  const keys = await makeKeys(database, checkout)
  const running = await start({
    name: options.name,
    command: [
      process.execPath,
      options.program ?? launcherOf(checkout.root),
      'serve',
      '--port',
      '0',
    ],
    core: GATEWAY_CORE,
    env: {
      TOLLGATE_CONFIG: configFile,
      TOLLGATE_DATABASE: database,
      TOLLGATE_SECRET: 'a secret for benchmarks, long enough to be taken',
      ...options.env,
    },
    logFile: join(folder, 'log'),
    ready: /"event":"listening".*?"url":"([^"]+)"/,
  })
  return { ...running, ...keys }
}

function configOf({ whole, streams }: Upstreams): string {
  const facts = 'price: { input: 0.05, output: 0.40 }, context: 131072'
  return `
frame: { budget: ${FRAME_BUDGET} }
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

export async function makeKeys(
  database: string,
  checkout: Checkout = THIS_CHECKOUT,
): Promise<BenchKeys> {
  const run = (...words: readonly string[]): Promise<unknown> =>
    tollgate(checkout, words, { TOLLGATE_DATABASE: database, TOLLGATE_CONFIG: '' })
  const make = async (name: string, budget: string): Promise<MadeKey> => {
    const models = Object.values(MODELS).join(',')
    const limits = ['--budget', budget, '--rpm', '100000000']
    return (await run('keys', 'create', '--name', name, '--models', models, ...limits)) as MadeKey
  }
  await run('frame', 'set', '--budget', FRAME_BUDGET)
  const keys: MadeKey[] = []
  for (let index = 0; index < KEYS; index++)
    keys.push(await make(`application ${index}`, KEY_BUDGET))
  return {
    secrets: keys.map(({ secret }) => secret),
    keyIds: keys.map(({ id }) => id),
    poorSecret: (await make('without money', '0')).secret,
  }
}

type MadeKey = { readonly id: string; readonly secret: string }
