// The ledger alone: what a hold and its settlement cost, beside a program that only writes the same rows. With the bare
// proxy's cost it gives the best ratio that any gateway with these books could reach.
import { join } from 'node:path'
import { BARE_PROXY, bareProxyContender } from './contenders/contender.ts'
import type { Contender } from './contenders/contender.ts'
import { startBareProxy, startUpstreams } from './contenders/servers.ts'
import { makeKeys } from './contenders/tollgate.ts'
import { describeMachine, machineText } from './machine.ts'
import { median, runFolder, share } from './measuring.ts'
import type { Books, PairsProgram } from './pairs/start.ts'
import { runPairs } from './pairs/start.ts'
import { pinThisProcess } from './processes.ts'
import { alignedTable } from './report/table.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { SMALL_1, SMALL_256, SMALL_32 } from './workloads.ts'
import type { Workload } from './workloads.ts'

const ROUNDS = share(5)
/** Longer than a round of HTTP: a third of it comes on top, as the warm-up of a program just started. */
const PAIRS_SECONDS = share(6)

type Field = {
  readonly folder: string
  readonly proxy: Contender
  readonly books: Readonly<Record<PairsProgram, Books>>
}

/** Processor time in microseconds. */
type Times = { readonly proxy: number; readonly bare: number; readonly tollgate: number }

export async function ledger(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  const upstreams = await startUpstreams(folder)
  const field: Field = {
    folder,
    proxy: bareProxyContender(await startBareProxy(folder, upstreams)),
    books: { tollgate: await makeBooks(folder, 'tollgate'), bare: await makeBooks(folder, 'bare') },
  }
  await warmUp(field.proxy, SMALL_32, { folder, requests: share(30_000), secondsMax: share(5) })
  const lines: string[][] = []
  for (const workload of [SMALL_1, SMALL_32, SMALL_256]) {
    const { proxy, bare, tollgate } = await measureTimes(field, workload)
    const times = [proxy, bare, tollgate].map((time) => time.toFixed(0))
    lines.push([String(workload.connections), ...times, (proxy / (proxy + bare)).toFixed(2)])
  }
  const header = ['at a time', 'bare proxy, µs', 'bare ledger, µs', 'Tollgate’s ledger, µs']
  console.log(alignedTable([[...header, 'at most, × the bare proxy'], ...lines]))
  return 0
}

/** In turn, so that variations of the machine affect all alike; the median of the rounds. */
async function measureTimes({ folder, proxy, books }: Field, workload: Workload): Promise<Times> {
  const rounds: Times[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const pairs = async (program: PairsProgram): Promise<number> => {
      const task = { ...books[program], loops: workload.connections, seconds: PAIRS_SECONDS }
      return (await runPairs(program, program, task)).cpuUs
    }
    const bare = await pairs('bare')
    const tollgate = await pairs('tollgate')
    const course = { folder, rounds: 1, seconds: ROUND_SECONDS, warmSeconds: 0 }
    const measured = (await measure([proxy], workload, course)).get(BARE_PROXY)
    if (!isMeasured(measured)) throw new Error(measured?.failed ?? 'not measured')
    rounds.push({ proxy: measured[0]?.cpuUs ?? NaN, bare, tollgate })
  }
  const medianOf = (name: keyof Times): number => median(rounds.map((times) => times[name]))
  return { proxy: medianOf('proxy'), bare: medianOf('bare'), tollgate: medianOf('tollgate') }
}

async function makeBooks(folder: string, name: PairsProgram): Promise<Books> {
  const database = `sqlite:${join(folder, `${name}.db`)}`
  const { keyIds } = await makeKeys(database)
  return { database, keyIds, folder }
}
