// `npm run bench -- --postgres COMMIT`: this checkout beside another commit on PostgreSQL, in the same rounds: small
// requests at 1 and 32 connections, and the ledger alone on one node and on three. The processor time of the database
// server is counted, because a gateway that leaves work to it only looks cheaper.
import type { Checkout } from './checkout.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import { tollgateContender, type Contender } from './contenders/contender.ts'
import { makeDatabase, startPostgres, stopPostgres } from './contenders/postgres.ts'
import { startUpstreams } from './contenders/servers.ts'
import { makeKeys, startTollgate } from './contenders/tollgate.ts'
import type { Measured } from './load/load.ts'
import { describeMachine, machineText } from './machine.ts'
import { median, medianRatio, runFolder, share } from './measuring.ts'
import { pairsPerSecond } from './pairs/start.ts'
import { pinThisProcess } from './processes.ts'
import { alignedTable } from './report/table.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { SMALL_1, SMALL_32 } from './workloads.ts'

const ROUNDS = share(5)
const PAIRS_ROUNDS = share(3)
const WARM_UP = { requests: share(20_000), secondsMax: share(9) }

/** One row: the figure of each round, for the other commit and for this checkout. */
type Row = {
  readonly label: string
  readonly digits: number
  readonly before: readonly number[]
  readonly after: readonly number[]
}

type Pair<Item> = readonly [before: Item, after: Item]

export async function onPostgres(other: Checkout): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  const server = await startPostgres(folder)
  const checkouts = [other, THIS_CHECKOUT] as const
  const rows = [
    ...(await gatewayRows(checkouts, { folder, server })),
    ...(await ledgerRows(checkouts, { folder, server })),
  ]
  await stopPostgres()
  const lines = rows.map((row) => {
    const figures = [row.before, row.after].map((values) => median(values).toFixed(row.digits))
    return [row.label, ...figures, medianRatio(row.after, row.before).toFixed(2)]
  })
  console.log(alignedTable([['', other.name, THIS_CHECKOUT.name, `× ${other.name}`], ...lines]))
  return 0
}

type Place = { readonly folder: string; readonly server: string }

async function gatewayRows(checkouts: Pair<Checkout>, place: Place): Promise<Row[]> {
  const { folder } = place
  const upstreams = await startUpstreams(folder)
  const start = async (checkout: Checkout, name: string): Promise<Contender> => {
    const database = await makeDatabase(place.server, name)
    const options = { name, folder, upstreams, checkout, database }
    const contender = tollgateContender(checkout.name, await startTollgate(options))
    await warmUp(contender, SMALL_32, { folder, ...WARM_UP })
    return contender
  }
  const contenders = [await start(checkouts[0], 'before'), await start(checkouts[1], 'after')]
  const rows: Row[] = []
  for (const workload of [SMALL_1, SMALL_32]) {
    const course = { folder, rounds: ROUNDS, seconds: ROUND_SECONDS, warmSeconds: share(1) }
    const results = await measure(contenders, workload, course)
    const row = (label: string, figure: (measured: Measured) => number): Row => {
      const [before = [], after = []] = checkouts.map(({ name }) => {
        const rounds = results.get(name)
        if (!isMeasured(rounds)) throw new Error(`${name}: ${rounds?.failed ?? 'not measured'}`)
        return rounds.map(figure)
      })
      return { label: `${workload.name}: ${label}`, digits: 0, before, after }
    }
    rows.push(
      row('p50, µs', ({ p50Us }) => p50Us),
      row('p99, µs', ({ p99Us }) => p99Us),
      row('requests/s', ({ perSecond }) => perSecond),
      row('processor of the gateway, µs', ({ cpuUs }) => cpuUs),
      row('processor of PostgreSQL, µs', ({ databaseCpuUs = NaN }) => databaseCpuUs),
    )
  }
  return rows
}

async function ledgerRows(checkouts: Pair<Checkout>, place: Place): Promise<Row[]> {
  const booksOf = async (checkout: Checkout, name: string) => {
    const database = await makeDatabase(place.server, name)
    const { keyIds } = await makeKeys(database, checkout)
    return { database, keyIds, folder: place.folder, checkout }
  }
  const books = [
    await booksOf(checkouts[0], 'books_before'),
    await booksOf(checkouts[1], 'books_after'),
  ] as const
  const one: Pair<number[]> = [[], []]
  const three: Pair<number[]> = [[], []]
  for (let round = 0; round < PAIRS_ROUNDS; round++) {
    for (const which of [0, 1] as const) {
      one[which].push(await pairsPerSecond(books[which], 1))
      three[which].push(await pairsPerSecond(books[which], 3))
    }
  }
  const shares = ([0, 1] as const).map((which) =>
    three[which].map((pairs, round) => pairs / (one[which][round] ?? NaN)),
  )
  return [
    { label: 'ledger alone, one node: pairs/s', digits: 0, before: one[0], after: one[1] },
    { label: 'ledger alone, three nodes: pairs/s', digits: 0, before: three[0], after: three[1] },
    { label: 'three nodes, × one', digits: 2, before: shares[0] ?? [], after: shares[1] ?? [] },
  ]
}

/** Compared within each round, so that a machine that slows down affects both alike. */
