// The ledger alone: what a hold and its settlement cost, beside a program that only writes the same rows. With the bare
// proxy's cost it gives the best ratio that any gateway with these books could reach. Then what all legs cost a key, and
// whether a key without them pays for that.
import { join } from 'node:path'
import { systemClock } from '../src/core/clock.ts'
import { BUDGET_MAX } from '../src/core/money.ts'
import { setFrame } from '../src/store/frame.ts'
import { createGroup } from '../src/store/groups/lifecycle.ts'
import { updateKey } from '../src/store/keys/lifecycle.ts'
import { openStore } from '../src/store/open.ts'
import { checkOut, THIS_CHECKOUT, type Checkout } from './checkout.ts'
import { BARE_PROXY, bareProxyContender } from './contenders/contender.ts'
import type { Contender } from './contenders/contender.ts'
import { startBareProxy, startUpstreams } from './contenders/servers.ts'
import { makeKeys, MODELS } from './contenders/tollgate.ts'
import { describeMachine, machineText } from './machine.ts'
import { median, medianRatio, runFolder, share } from './measuring.ts'
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
  readonly books: Readonly<Record<Subject, Books>>
  readonly before: Checkout
}

/** `legs`: a key in a group, with a cap, and with second windows on key, group and frame. `before`: the last commit. */
type Subject = PairsProgram | 'legs' | 'before'

/** Processor time in microseconds, by round. */
type Times = Readonly<Record<Subject | 'proxy', readonly number[]>>

export async function ledger(): Promise<number> {
  const before = checkOut('HEAD^')
  if (before === undefined) throw new Error('there is no commit before this one')
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  const upstreams = await startUpstreams(folder)
  const field: Field = {
    folder,
    proxy: bareProxyContender(await startBareProxy(folder, upstreams)),
    before,
    books: {
      tollgate: await makeBooks(folder, 'tollgate'),
      bare: await makeBooks(folder, 'bare'),
      legs: await addLegs(await makeBooks(folder, 'legs')),
      before: await makeBooks(folder, 'before', before),
    },
  }
  await warmUp(field.proxy, SMALL_32, { folder, requests: share(30_000), secondsMax: share(5) })
  const lines: string[][] = []
  const compared: string[][] = [[WITH_LEGS], [BEFORE]]
  for (const workload of [SMALL_1, SMALL_32, SMALL_256]) {
    const { proxy, bare, tollgate, legs, before: earlier } = await measureTimes(field, workload)
    const times = [proxy, bare, tollgate].map(median)
    const most = medianRatio(
      proxy,
      proxy.map((time, round) => time + (bare[round] ?? NaN)),
    )
    lines.push([String(workload.connections), ...times.map((us) => us.toFixed(0)), most.toFixed(2)])
    compared[0]?.push(medianRatio(legs, tollgate).toFixed(2))
    compared[1]?.push(medianRatio(tollgate, earlier).toFixed(2))
  }
  const header = ['at a time', 'bare proxy, µs', 'bare ledger, µs', 'Tollgate’s ledger, µs']
  console.log(alignedTable([[...header, 'at most, × the bare proxy'], ...lines]))
  console.log(alignedTable([['Tollgate’s ledger', '1 at a time', '32', '256'], ...compared]))
  return 0
}

const WITH_LEGS = 'a key with group, cap and all second windows, × a plain one (at most 1.4)'
const BEFORE = 'a plain key, × the commit before (at most 1.05)'

/** In turn, so that variations of the machine affect all alike. */
async function measureTimes(field: Field, workload: Workload): Promise<Times> {
  const { folder, proxy, books } = field
  const times: Record<keyof Times, number[]> = {
    proxy: [],
    bare: [],
    tollgate: [],
    legs: [],
    before: [],
  }
  for (let round = 0; round < ROUNDS; round++) {
    const pairs = async (subject: Subject): Promise<void> => {
      const task = { ...books[subject], loops: workload.connections, seconds: PAIRS_SECONDS }
      const program = subject === 'bare' ? 'bare' : 'tollgate'
      const checkout = subject === 'before' ? field.before : THIS_CHECKOUT
      times[subject].push((await runPairs(subject, program, { ...task, checkout })).cpuUs)
    }
    for (const subject of ['bare', 'before', 'tollgate', 'legs'] as const) await pairs(subject)
    const course = { folder, rounds: 1, seconds: ROUND_SECONDS, warmSeconds: 0 }
    const measured = (await measure([proxy], workload, course)).get(BARE_PROXY)
    if (!isMeasured(measured)) throw new Error(measured?.failed ?? 'not measured')
    times.proxy.push(measured[0]?.cpuUs ?? NaN)
  }
  return times
}

async function makeBooks(folder: string, name: Subject, checkout?: Checkout): Promise<Books> {
  const database = `sqlite:${join(folder, `${name}.db`)}`
  const { keyIds } = await makeKeys(database, checkout)
  return { database, keyIds, folder }
}

/** Everything that a key can have above and beside its budget. */
async function addLegs(books: Books): Promise<Books> {
  const store = await openStore(books.database, { clock: systemClock })
  const window = { limitNanodollars: BUDGET_MAX, period: 'day' } as const
  await setFrame(store, { window })
  const group = { name: 'all', limitNanodollars: BUDGET_MAX, legs: { window } }
  const { id: groupId } = await createGroup(store, group)
  const modelBudgets = new Map([[MODELS.chat, { ...window, period: 'week' }]] as const)
  for (const keyId of books.keyIds) {
    await updateKey(store, keyId, { legs: { groupId, window, modelBudgets } })
  }
  await store.close()
  return books
}
