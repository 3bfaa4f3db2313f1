// `npm run bench:scale`: the cost of a full database. Compared with an empty one, in the same rounds, on both kinds of
// database: requests per second on ten keys and on all keys, the screens of the admin interface, the bare ledger.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { BUDGET_MAX } from '../../src/core/money.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_FRAME } from '../../test/samples/frame.ts'
import { tollgateContender } from '../contenders/contender.ts'
import { makeDatabase, startPostgres, stopPostgres } from '../contenders/postgres.ts'
import { startUpstreams } from '../contenders/servers.ts'
import type { Upstreams } from '../contenders/servers.ts'
import { startTollgate } from '../contenders/tollgate.ts'
import { describeMachine, machineText } from '../machine.ts'
import { effort, median, medianRatio, runFolder, share } from '../measuring.ts'
import { pairsPerSecond } from '../pairs/start.ts'
import { pinThisProcess } from '../processes.ts'
import { writeScale } from '../report/files.ts'
import { alignedTable } from '../report/table.ts'
import type { Rounds } from '../rounds.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from '../rounds.ts'
import type { Target } from '../targets.ts'
import { atLeast, atMost, targetsTable } from '../targets.ts'
import { SMALL_32 } from '../workloads.ts'
import {
  makeToken,
  screensOf,
  screenTime,
  USAGE_BY_GROUP,
  USAGE_BY_KEY,
  USAGE_BY_WHOSE,
  type ScreenTime,
} from './admin-times.ts'
import { fill, settle } from './fill.ts'
import type { Filled } from './filled-keys.ts'
import type { Size } from './size.ts'
import { size } from './size.ts'

/** One column of the table: the text of each line, and the figure that a promise may be about. */
type Column = ReadonlyMap<string, Cell>
type Cell = { readonly text: string; readonly figure: number }

/** Says each line as soon as it is known: the run takes long, and the table comes last. */
class NewColumn extends Map<string, Cell> {
  override set(label: string, cell: Cell): this {
    console.error(`bench: ${label}: ${cell.text}`)
    return super.set(label, cell)
  }
}

type Place = {
  readonly folder: string
  readonly upstreams: Upstreams
  readonly emptyDatabase: string
  readonly fullDatabase: string
  /** Node counts for the bare ledger; SQLite has one node. */
  readonly nodes: readonly number[]
}

export async function scale(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  const machine = describeMachine(folder)
  console.log(machineText(machine))
  const upstreams = await startUpstreams(folder)
  const sqlite = await measureScale({
    ...{ folder: join(folder, 'sqlite'), upstreams, nodes: [1] },
    emptyDatabase: `sqlite:${join(folder, 'empty.db')}`,
    fullDatabase: `sqlite:${join(folder, 'full.db')}`,
  })
  const postgres = await startPostgres(folder)
  const onPostgres = await measureScale({
    ...{ folder: join(folder, 'on-postgres'), upstreams, nodes: [1, 3] },
    emptyDatabase: await makeDatabase(postgres, 'empty'),
    fullDatabase: await makeDatabase(postgres, 'filled'),
  })
  await stopPostgres()
  const labels = [...onPostgres.keys()]
  const lines = labels.map((label) => [
    label,
    sqlite.get(label)?.text ?? '–',
    onPostgres.get(label)?.text ?? '–',
  ])
  const keys = size.keys.toLocaleString('en')
  const table = [
    `${machineText(machine)}. ${keys} keys in ${size.groups.toLocaleString('en')} groups, ${size.rows.toLocaleString('en')} usage rows.`,
    alignedTable([['', 'SQLite', 'PostgreSQL'], ...lines]),
    '- × is the share of the rate beside an empty database in the same round.\n- Times are of whole answers of the admin API, the usual one and the first; where several requests belong to a line, of the one that is usually the slowest.',
    targetsTable([...judge('SQLite', sqlite), ...judge('PostgreSQL', onPostgres)]),
  ].join('\n\n')
  console.log(table)
  // A reduced run is only printed.
  if (effort === 1) writeScale(`${table}\n`)
  return 0
}

function judge(database: string, column: Column): readonly Target[] {
  const figure = (label: string): number => column.get(label)?.figure ?? NaN
  return [
    atLeast(`${database}: 10 keys in a full database, × an empty one`, figure(FULL), 0.95),
    atLeast(`${database}: spread over all keys, × 10 keys`, figure(SPREAD), 0.6),
    ...screensOf({ keys: size.keys, keyId: '', groupId: '' }).overview.map(({ label }) =>
      atMost(`${database}: ${label}, ms`, figure(label), 200),
    ),
    atMost(`${database}: ${USAGE_BY_GROUP}, ms`, figure(USAGE_BY_GROUP), 300),
    atMost(`${database}: ${USAGE_BY_WHOSE}, ms`, figure(USAGE_BY_WHOSE), 800),
    atMost(`${database}: ${USAGE_BY_KEY}, ms`, figure(USAGE_BY_KEY), 800),
  ]
}

async function measureScale(place: Place): Promise<Column> {
  const { folder, fullDatabase: database } = place
  mkdirSync(folder, { recursive: true })
  console.error(`bench: filling ${size.keys} keys and ${size.rows} rows`)
  const from = performance.now()
  const { filled, token } = await makeFull(database, size)
  const fillSeconds = (performance.now() - from) / 1000
  const column = new NewColumn()
  column.set('seconds to fill', cellOf(fillSeconds))
  for (const nodes of place.nodes) {
    console.error(`bench: pairs with ${nodes} node(s)`)
    const keyIds = filled.keyIds.slice(0, 10)
    const pairs = pairsPerSecond({ database, keyIds, folder }, nodes)
    const label = nodes === 1 ? 'one node' : 'three nodes'
    column.set(`reserve-and-settle pairs/s, ${label}`, await pairs.then(cellOf, failedCell))
  }
  await measureTraffic(place, { filled, token, column })
  return column
}

async function makeFull(
  database: string,
  wanted: Size,
): Promise<{ readonly filled: Filled; readonly token: string }> {
  const store = await openStore(database, { clock: systemClock })
  try {
    await seedFrame(store, { ...SAMPLE_FRAME, limitNanodollars: BUDGET_MAX })
    return { filled: await fill(store, wanted), token: await makeToken(store) }
  } finally {
    await store.close()
    await settle(database)
  }
}

const EMPTY = 'requests/s on 10 keys, nothing else there'
const FULL = 'requests/s on 10 keys, database full'
const SPREAD = 'requests/s spread over all keys'

/** All three in the same rounds, so that variations of the machine affect them alike. */
async function measureTraffic(
  { folder, upstreams, emptyDatabase, fullDatabase }: Place,
  given: { readonly filled: Filled; readonly token: string; readonly column: NewColumn },
): Promise<void> {
  const { filled, token, column } = given
  const common = { folder, upstreams }
  const empty = await startTollgate({ ...common, name: 'empty', database: emptyDatabase })
  const full = await startTollgate({ ...common, name: 'full', database: fullDatabase })
  const contenders = [
    tollgateContender(EMPTY, empty),
    tollgateContender(FULL, full),
    tollgateContender(SPREAD, { ...full, secrets: filled.secrets }),
  ]
  for (const contender of contenders) {
    console.error(`bench: ${contender.name}`)
    await warmUp(contender, SMALL_32, { folder, requests: share(60_000), secondsMax: share(20) })
  }
  const course = { folder, rounds: share(5), seconds: ROUND_SECONDS, warmSeconds: 0 }
  const results = await measure(contenders, SMALL_32, course)
  for (const { name } of contenders) column.set(name, rateCell(results, name))
  const [keyId = ''] = filled.keyIds
  const screens = screensOf({ keys: size.keys, keyId, groupId: filled.groupId })
  for (const screen of [...screens.overview, ...screens.reports]) {
    const time = screenTime({ url: full.url, token }, screen)
    column.set(screen.label, await time.then(timeCell, failedCell))
  }
  await Promise.all([empty.stop(), full.stop()])
}

/** The figure is the ratio to the empty database. */
function rateCell(results: ReadonlyMap<string, Rounds>, name: string): Cell {
  const rounds = results.get(name)
  const empty = results.get(EMPTY)
  if (!isMeasured(rounds)) return failedCell(rounds?.failed)
  const rates = rounds.map(({ perSecond }) => perSecond)
  if (!isMeasured(empty)) return { ...cellOf(median(rates)), figure: NaN }
  const ratio = medianRatio(
    rates,
    empty.map(({ perSecond }) => perSecond),
  )
  return { text: `${cellOf(median(rates)).text} ×${ratio.toFixed(2)}`, figure: ratio }
}

function cellOf(figure: number): Cell {
  return { text: figure.toLocaleString('en', { maximumFractionDigits: 0 }), figure }
}

function timeCell({ path, firstMs, ms }: ScreenTime): Cell {
  console.error(`bench: ${path}`)
  const text = `${cellOf(ms).text} ms, first ${cellOf(firstMs).text}`
  return { text, figure: ms }
}

/** One line must not cost the others, which took long. */
function failedCell(why: unknown): Cell {
  const message = why instanceof Error ? why.message : String(why)
  console.error(`bench: ${message}`)
  return { text: `failed: ${message.split('\n', 1)[0]}`, figure: NaN }
}
