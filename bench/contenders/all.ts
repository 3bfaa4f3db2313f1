// Starts everything that a full run compares. Contenders that cannot start are left out and named, and the run
// continues.
import { join } from 'node:path'
import { startPostgres } from './postgres.ts'
import {
  BARE_PROXY,
  bareProxyContender,
  tollgateContender,
  upstreamContender,
} from './contender.ts'
import type { Contender } from './contender.ts'
import { findInstalled } from './installed.ts'
import { PORTKEY, startPortkey } from './portkey.ts'
import { startBareProxy } from './servers.ts'
import type { Upstreams } from './servers.ts'
import { startTollgate, type TollgateOptions } from './tollgate.ts'
import { buildWith, WITHOUT_LEDGER } from './rebuilt.ts'

export const TOLLGATE_SQLITE = 'Tollgate SQLite'
export const TOLLGATE_POSTGRES = 'Tollgate PostgreSQL'
export const TOLLGATE_WITHOUT_LEDGER = 'Tollgate without ledger'

export type Field = {
  readonly contenders: readonly Contender[]
  /** The contenders that were left out, and why. */
  readonly missing: readonly string[]
}

export async function startField(folder: string, upstreams: Upstreams): Promise<Field> {
  const contenders: Contender[] = [upstreamContender(upstreams)]
  const missing: string[] = []
  const starts: readonly { readonly name: string; start(): Promise<Contender> }[] = [
    {
      name: BARE_PROXY,
      start: async () => bareProxyContender(await startBareProxy(folder, upstreams)),
    },
    {
      name: TOLLGATE_SQLITE,
      start: () => tollgateOnSqlite(folder, upstreams, { withAllBudgets: true }),
    },
    {
      name: TOLLGATE_POSTGRES,
      start: async () => {
        const database = await startPostgres(folder)
        const options = { name: 'on-postgres', folder, upstreams, database, withAllBudgets: true }
        return tollgateContender(TOLLGATE_POSTGRES, await startTollgate(options))
      },
    },
    {
      name: TOLLGATE_WITHOUT_LEDGER,
      start: async () => {
        const program = await buildWith(WITHOUT_LEDGER, join(folder, 'dist'))
        const options = { name: 'without-ledger', folder, upstreams, program }
        const tollgate = tollgateContender(TOLLGATE_WITHOUT_LEDGER, await startTollgate(options))
        return withoutBudgets(tollgate)
      },
    },
    { name: PORTKEY, start: () => startPortkey(folder, upstreams) },
    ...findInstalled(folder, upstreams),
  ]
  // The first start of a checkout builds everything and caches the compiled code for later starts. If it fails, so do
  // those, and they are named.
  await startTollgate({ name: 'first', folder, upstreams }).then(
    (first) => first.stop(),
    () => {},
  )
  for (const contender of starts) {
    try {
      contenders.push(await contender.start())
    } catch (error) {
      missing.push(`${contender.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { contenders, missing }
}

export async function tollgateOnSqlite(
  folder: string,
  upstreams: Upstreams,
  more: Pick<TollgateOptions, 'withAllBudgets'> = {},
): Promise<Contender> {
  const options = { name: 'on-sqlite', folder, upstreams, ...more }
  return tollgateContender(TOLLGATE_SQLITE, await startTollgate(options))
}

/** Without books, no budget is ever used up. */
function withoutBudgets(contender: Contender): Contender {
  return {
    ...contender,
    wayOf: (workload) =>
      workload.refusal === 'empty budget' ? undefined : contender.wayOf(workload),
  }
}
