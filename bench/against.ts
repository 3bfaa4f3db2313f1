// `npm run bench -- --against COMMIT`: this checkout beside another commit, in the same rounds: small requests at 1, 32
// and 256 connections, and the ledger alone. Run it before and after a change to the path of a request.
import { join } from 'node:path'
import type { Checkout } from './checkout.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import { tollgateContender } from './contenders/contender.ts'
import type { Contender } from './contenders/contender.ts'
import { startUpstreams } from './contenders/servers.ts'
import { makeKeys, startTollgate } from './contenders/tollgate.ts'
import type { Measured } from './load/load.ts'
import { describeMachine, machineText } from './machine.ts'
import { median, medianRatio, runFolder, share } from './measuring.ts'
import type { Books } from './pairs/start.ts'
import { runPairs } from './pairs/start.ts'
import { pinThisProcess } from './processes.ts'
import { alignedTable } from './report/table.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { SMALL_1, SMALL_256, SMALL_32 } from './workloads.ts'

const ROUNDS = share(7)
const PAIRS_ROUNDS = share(5)
const PAIRS_SECONDS = share(4)
const WARM_UP = { requests: share(60_000), secondsMax: share(15) }
/** Two runs of the same commit differ by up to this much. */
const NOISE = 0.05

/** One row: the figure of each round, for the other commit and for this checkout. */
type Row = {
  readonly label: string
  readonly before: readonly number[]
  readonly after: readonly number[]
  readonly better: 'more' | 'less'
}

export async function against(other: Checkout): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  const rows = [
    ...(await gatewayRows([other, THIS_CHECKOUT], folder)),
    ...(await ledgerRows([other, THIS_CHECKOUT], folder)),
  ]
  const lines = rows.map((row) => {
    const ratio = medianRatio(row.after, row.before)
    const figures = [row.before, row.after].map((values) => median(values).toFixed(0))
    return [row.label, ...figures, ratio.toFixed(2), verdictOf(row, ratio)]
  })
  const header = ['', other.name, THIS_CHECKOUT.name, `× ${other.name}`, '']
  console.log(alignedTable([header, ...lines]))
  const isSlower = rows.some(
    (row) => verdictOf(row, medianRatio(row.after, row.before)) === 'slower',
  )
  console.log(
    isSlower
      ? `This checkout is slower than ${other.name} by more than ${NOISE * 100} % in at least one row.`
      : `This checkout is not slower than ${other.name} (within ${NOISE * 100} %).`,
  )
  return isSlower ? 1 : 0
}

type Pair<Item> = readonly [before: Item, after: Item]

async function gatewayRows(checkouts: Pair<Checkout>, folder: string): Promise<Row[]> {
  const upstreams = await startUpstreams(folder)
  const start = async (checkout: Checkout): Promise<Contender> => {
    const options = { name: checkout.root.split('/').at(-1) ?? '', folder, upstreams, checkout }
    const contender = tollgateContender(checkout.name, await startTollgate(options))
    await warmUp(contender, SMALL_32, { folder, ...WARM_UP })
    return contender
  }
  const contenders = [await start(checkouts[0]), await start(checkouts[1])]
  const rows: Row[] = []
  for (const workload of [SMALL_1, SMALL_32, SMALL_256]) {
    const course = { folder, rounds: ROUNDS, seconds: ROUND_SECONDS, warmSeconds: share(1) }
    const results = await measure(contenders, workload, course)
    const roundsOf = (figure: (measured: Measured) => number) => {
      const [before = [], after = []] = checkouts.map(({ name }) => {
        const rounds = results.get(name)
        if (!isMeasured(rounds)) throw new Error(`${name}: ${rounds?.failed ?? 'not measured'}`)
        return rounds.map(figure)
      })
      return { before, after }
    }
    const label = (figure: string): string => `${workload.name}: ${figure}`
    rows.push(
      workload === SMALL_1
        ? { label: label('p50, µs'), ...roundsOf(({ p50Us }) => p50Us), better: 'less' }
        : {
            label: label('requests/s'),
            ...roundsOf(({ perSecond }) => perSecond),
            better: 'more',
          },
      { label: label('processor, µs'), ...roundsOf(({ cpuUs }) => cpuUs), better: 'less' },
    )
  }
  return rows
}

async function ledgerRows(checkouts: Pair<Checkout>, folder: string): Promise<Row[]> {
  const booksOf = async (checkout: Checkout): Promise<Books> => {
    const database = `sqlite:${join(folder, `ledger-${checkout.name.replace(' ', '-')}.db`)}`
    const { keyIds } = await makeKeys(database, checkout)
    return { database, keyIds, folder }
  }
  const books = [await booksOf(checkouts[0]), await booksOf(checkouts[1])] as const
  const rows: Row[] = []
  for (const loops of [1, 32, 256]) {
    const before: number[] = []
    const after: number[] = []
    for (let round = 0; round < PAIRS_ROUNDS; round++) {
      const run = async (which: 0 | 1): Promise<number> => {
        const task = { ...books[which], loops, seconds: PAIRS_SECONDS, checkout: checkouts[which] }
        return (await runPairs(`against-${which}`, 'tollgate', task)).cpuUs
      }
      before.push(await run(0))
      after.push(await run(1))
    }
    const label = `ledger alone, ${loops} at a time: processor, µs`
    rows.push({ label, before, after, better: 'less' })
  }
  return rows
}

/** Compared within each round, so that a machine that slows down affects both alike. */
function verdictOf({ better }: Row, ratio: number): 'faster' | 'as fast' | 'slower' {
  const gain = better === 'more' ? ratio : 1 / ratio
  if (gain < 1 - NOISE) return 'slower'
  return gain > 1 + NOISE ? 'faster' : 'as fast'
}
