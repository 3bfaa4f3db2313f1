// `npm run bench -- --burst`: a budget that pays for ten calls, and two hundred calls at once. A gateway that checks before
// a call and charges after it serves all of them; one that holds the worst case first serves ten.
import { formatUsd, parseUsd } from '../src/core/money.ts'
import { THIS_CHECKOUT, tollgate } from './checkout.ts'
import { TOLLGATE_POSTGRES, TOLLGATE_SQLITE } from './contenders/all.ts'
import { startPostgres, stopPostgres } from './contenders/postgres.ts'
import { startUpstreams } from './contenders/servers.ts'
import { MODELS, startTollgate, type TollgateOptions } from './contenders/tollgate.ts'
import { describeMachine, machineText } from './machine.ts'
import { runFolder } from './measuring.ts'
import { pinThisProcess } from './processes.ts'

const PAID = 10
const CALLS = 200
const ASK = {
  model: MODELS.chat,
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Who paid the toll?' }],
}

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
  return isExact.every(Boolean) ? 0 : 1
}

/** Whether exactly what the budget pays for was served. */
async function burstOn(name: string, options: TollgateOptions, database: string): Promise<boolean> {
  const gateway = await startTollgate({ ...options, database })
  const call = (secret: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...headers,
      },
      body: JSON.stringify(ASK),
    })
  const [rich = ''] = gateway.secrets
  const dryRun = await call(rich, { 'x-tollgate-dry-run': '1' })
  const { worst_case: worst } = (await dryRun.json()) as { readonly worst_case: string }
  const first = await call(rich)
  await first.text()
  const cost = first.headers.get('x-tollgate-cost') ?? ''
  // The last call must fit at its worst; the others are charged what they cost.
  const budget = formatUsd(parseUsd(cost) * BigInt(PAID - 1) + parseUsd(worst))
  const words = ['keys', 'create', '--name', 'burst', '--models', MODELS.chat, '--budget', budget]
  const { secret } = (await tollgate(THIS_CHECKOUT, words, {
    TOLLGATE_DATABASE: database,
    TOLLGATE_CONFIG: '',
  })) as { readonly secret: string }
  const answers = await Promise.all(Array.from({ length: CALLS }, () => call(secret)))
  await Promise.all(answers.map((answer) => answer.text()))
  await gateway.stop()
  const counts = Map.groupBy(answers, ({ status }) => status)
  const served = counts.get(200)?.length ?? 0
  const others = [...counts]
    .filter(([status]) => status !== 200)
    .map(([status, { length }]) => `${length} × ${status}`)
  console.log(`${name}: ${served} of ${CALLS} served (wanted ${PAID}); ${others.join(', ')}`)
  return served === PAID
}
