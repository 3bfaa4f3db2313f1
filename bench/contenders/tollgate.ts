// Tollgate as a contender, started as its users start it, with everything on: keys with an allowlist, a budget and a
// rate limit, the frame, the ledger on disk, the usage record, the log.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcherOf, THIS_CHECKOUT, tollgate } from '../checkout.ts'
import type { Checkout } from '../checkout.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'
import type { Contender } from './contender.ts'
import { postgresCpuNs } from './postgres.ts'
import type { Upstreams } from './servers.ts'

export type Tollgate = Running &
  BenchKeys &
  Pick<Contender, 'databaseCpuNs'> & {
    /** The secrets of keys in a group, with a cap for the model, and second windows of key and group. */
    readonly allBudgetsSecrets: readonly string[]
  }

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
  /** Also makes keys that have every kind of budget. */
  readonly withAllBudgets?: boolean
}

export const MODELS = {
  chat: 'bench-chat',
  stream: 'bench-stream',
  slow: 'bench-slow',
  embedding: 'bench-embedding',
}
/** Of every model, in USD per million tokens. */
export const PRICE = { input: 0.05, output: 0.4 }
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
  const allBudgetsSecrets =
    options.withAllBudgets === true ? await makeKeysWithAllBudgets(database) : []
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
  const isOnPostgres = database.startsWith('postgres:')
  return {
    ...running,
    ...keys,
    allBudgetsSecrets,
    databaseCpuNs: isOnPostgres ? postgresCpuNs : undefined,
  }
}

function configOf({ whole, streams }: Upstreams): string {
  const facts = `price: { input: ${PRICE.input}, output: ${PRICE.output} }, context: 131072`
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

/** Every refusable budget a request can have: four more beside those of the key and of the frame. */
async function makeKeysWithAllBudgets(database: string): Promise<readonly string[]> {
  const run = (...words: readonly string[]): Promise<unknown> =>
    tollgate(THIS_CHECKOUT, words, { TOLLGATE_DATABASE: database, TOLLGATE_CONFIG: '' })
  const budgets = ['--budget', KEY_BUDGET, '--window', `${KEY_BUDGET}/day`]
  await run('groups', 'create', '--name', 'all budgets', ...budgets)
  const models = ['--models', Object.values(MODELS).join(','), '--group', 'all budgets']
  const cap = ['--model-budget', `${MODELS.chat}=${KEY_BUDGET}/week`, '--rpm', '100000000']
  const secrets: string[] = []
  for (let index = 0; index < KEYS; index++) {
    const name = `all budgets ${index}`
    const made = await run('keys', 'create', '--name', name, ...models, ...budgets, ...cap)
    secrets.push((made as MadeKey).secret)
  }
  return secrets
}

type MadeKey = { readonly id: string; readonly secret: string }
