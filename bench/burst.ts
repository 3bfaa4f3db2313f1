// `npm run bench -- --burst`: a budget that pays for ten calls, and two hundred calls at once, on every gateway with
// budgets that is found installed. One that checks before a call and charges after it serves all of them; one that holds
// the worst case first serves ten. Fails if Tollgate does not.
import { formatUsd, parseUsd } from '../src/core/money.ts'
import { THIS_CHECKOUT, tollgate } from './checkout.ts'
import { TOLLGATE_POSTGRES, TOLLGATE_SQLITE } from './contenders/all.ts'
import { USAGE } from './contenders/answers.ts'
import { PEERS, isInstalled, startPeer, type Peer } from './contenders/installed.ts'
import { PORTKEY } from './contenders/portkey.ts'
import { startPostgres, stopPostgres } from './contenders/postgres.ts'
import { startUpstreams, type Upstreams } from './contenders/servers.ts'
import { MODELS, PRICE, startTollgate, type TollgateOptions } from './contenders/tollgate.ts'
import { describeMachine, machineText } from './machine.ts'
import { runFolder } from './measuring.ts'
import { pinThisProcess } from './processes.ts'

const PAID = 10
const CALLS = 200

type Common = { readonly folder: string; readonly upstreams: Upstreams }

export async function burst(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  const common = { folder, upstreams: await startUpstreams(folder) }
  const onSqlite = `sqlite:${folder}/burst.db`
  const isExact = [await burstOn(TOLLGATE_SQLITE, { ...common, name: 'sqlite' }, onSqlite)]
  const onPostgres = await startPostgres(folder)
  isExact.push(await burstOn(TOLLGATE_POSTGRES, { ...common, name: 'postgres' }, onPostgres))
  await stopPostgres()
  for (const peer of PEERS) await burstOnPeer(peer, common)
  console.log(`${PORTKEY}: left out: it has no budgets`)
  return isExact.every(Boolean) ? 0 : 1
}

/** Whether exactly what the budget pays for was served. */
async function burstOn(name: string, options: TollgateOptions, database: string): Promise<boolean> {
  const gateway = await startTollgate({ ...options, database })
  const [rich = ''] = gateway.secrets
  const ask = callsTo(gateway.url)
  const dryRun = await ask(rich, { 'x-tollgate-dry-run': '1' })
  const { worst_case: worst } = (await dryRun.json()) as { readonly worst_case: string }
  const first = await ask(rich)
  await first.text()
  const cost = first.headers.get('x-tollgate-cost') ?? ''
  // The last call must fit at its worst; the others are charged what they cost.
  const budget = formatUsd(parseUsd(cost) * BigInt(PAID - 1) + parseUsd(worst))
  const words = ['keys', 'create', '--name', 'burst', '--models', MODELS.chat, '--budget', budget]
  const { secret } = (await tollgate(THIS_CHECKOUT, words, {
    TOLLGATE_DATABASE: database,
    TOLLGATE_CONFIG: '',
  })) as { readonly secret: string }
  const served = await allAtOnce(name, () => ask(secret))
  await gateway.stop()
  return served === PAID
}

/** Its budget pays for ten calls exactly, one after the other: it holds no worst case. */
async function burstOnPeer(peer: Peer, common: Common): Promise<void> {
  const { name, secrets, smallBudget, modelPrefix } = peer
  if (!isInstalled(peer)) return console.log(`${name}: left out: it is not installed`)
  if (typeof smallBudget !== 'string')
    return console.log(`${name}: left out: ${smallBudget.missing}`)
  const cost = USAGE.prompt_tokens * PRICE.input + USAGE.completion_tokens * PRICE.output
  try {
    const gateway = await startPeer(peer, { ...common, smallBudgetUsd: (PAID * cost) / 1e6 })
    const ask = callsTo(gateway.url, modelPrefix)
    const first = await ask(secrets[0] ?? '')
    if (!first.ok) throw new Error(`it refused a key with money: ${await first.text()}`)
    await first.text()
    await allAtOnce(name, () => ask(smallBudget))
    await gateway.stop()
  } catch (error) {
    console.log(`${name}: left out: ${error instanceof Error ? error.message : String(error)}`)
  }
}

type Ask = (secret: string, headers?: Readonly<Record<string, string>>) => Promise<Response>

function callsTo(url: string, modelPrefix = ''): Ask {
  const body = JSON.stringify({
    model: modelPrefix + MODELS.chat,
    max_tokens: 256,
    messages: [{ role: 'user', content: 'Who paid the toll?' }],
  })
  return (secret, headers = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...headers,
      },
      body,
    })
}

/** How many calls were served. */
async function allAtOnce(name: string, ask: () => Promise<Response>): Promise<number> {
  const answers = await Promise.all(Array.from({ length: CALLS }, ask))
  await Promise.all(answers.map((answer) => answer.text()))
  const counts = Map.groupBy(answers, ({ status }) => status)
  const served = counts.get(200)?.length ?? 0
  const others = [...counts]
    .filter(([status]) => status !== 200)
    .map(([status, { length }]) => `${length} × ${status}`)
  const rest = others.length === 0 ? '' : `; ${others.join(', ')}`
  console.log(`${name}: ${served} of ${CALLS} served (wanted ${PAID})${rest}`)
  return served
}
