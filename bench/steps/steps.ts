// `npm run bench -- --steps`: where the time of one request goes, by the clock, step by step: small requests one after the
// other over one connection, through the bare proxy and through Tollgate on both databases. Each is also measured without
// the marks, in the same rounds, to show what they cost.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Contender } from '../contenders/contender.ts'
import { BARE_PROXY, bareProxyContender, tollgateContender } from '../contenders/contender.ts'
import { TOLLGATE_POSTGRES, TOLLGATE_SQLITE } from '../contenders/all.ts'
import { makeDatabase, startPostgres, stopPostgres } from '../contenders/postgres.ts'
import { buildWith } from '../contenders/rebuilt.ts'
import { startBareProxy, startUpstreams, type Upstreams } from '../contenders/servers.ts'
import { startTollgate } from '../contenders/tollgate.ts'
import type { Counted } from '../load/load.ts'
import { describeMachine, machineText } from '../machine.ts'
import { median, runFolder, share } from '../measuring.ts'
import { LOAD_CORE, othersNs, pinThisProcess } from '../processes.ts'
import { alignedTable } from '../report/table.ts'
import { ROUND_SECONDS, warmUp } from '../rounds.ts'
import { requestsOf as textsOf, SMALL_1, SMALL_32 } from '../workloads.ts'
import { STEPS, type Marked } from './names.ts'
import { middleOf, requestsOf, type Sent, type Steps } from './requests.ts'

const ROUNDS = share(3)
const WARM_UP = { requests: share(40_000), secondsMax: share(9) }
const CLIENT = fileURLToPath(new URL('../load/client.ts', import.meta.url))
const MARKS = new URL('./marks.ts', import.meta.url).href
const MARKED_MODULES = {
  '/ledger/nodes/open.ts': new URL('./wrap-ledger.ts', import.meta.url),
  '/access/authenticate.ts': new URL('./wrap-authenticate.ts', import.meta.url),
}

/** A contender, and the same with marks. */
type Subject = {
  readonly name: string
  readonly plain: Contender
  readonly marked: Contender
  readonly marksFile: string
  readonly plainP50sUs: number[]
  readonly sent: Sent[]
}

export async function steps(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  console.log(machineText(describeMachine(folder)))
  console.log(await measureSteps(folder, await startUpstreams(folder)))
  await stopPostgres()
  return 0
}

export async function measureSteps(folder: string, upstreams: Upstreams): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const subjects = await startSubjects(folder, upstreams)
  for (const { plain, marked } of subjects) {
    await warmUp(plain, SMALL_32, { folder, ...WARM_UP })
    await warmUp(marked, SMALL_32, { folder, ...WARM_UP })
  }
  const from = { ms: performance.now(), othersNs: othersNs() }
  // The first round warms up, as what runs once per request is compiled for one connection as well.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { plain, marked, plainP50sUs, sent } of subjects) {
      const own = await oneByOne(plain, folder)
      const more = await oneByOne(marked, folder)
      if (round === 0) continue
      plainP50sUs.push(own.p50Us)
      sent.push(...more.sent)
    }
  }
  const others = (othersNs() - from.othersNs) / 1e6 / (performance.now() - from.ms) / 2
  const columns: Column[] = []
  for (const { name, marked, marksFile, plainP50sUs, sent } of subjects) {
    const found = middleOf(requestsOf(sent, await marksOf(marked, marksFile)))
    columns.push({ name, found, plainUs: median(plainP50sUs) })
  }
  const percent = Math.max(0, others * 100).toFixed(0)
  return `${tableOf(columns)}\n\nMeanwhile, other programs used ${percent} % of the two cores.`
}

async function startSubjects(folder: string, upstreams: Upstreams): Promise<readonly Subject[]> {
  const subject = async (name: string, start: Start): Promise<Subject> => {
    const marksFile = join(folder, `marks of ${name}.json`)
    const marks = { NODE_OPTIONS: `--import=${MARKS}`, BENCH_MARKS: marksFile }
    const plain = await start('plain', {})
    const marked = await start('marked', marks)
    return { name, plain, marked, marksFile, plainP50sUs: [], sent: [] }
  }
  const program = await buildWith(MARKED_MODULES, join(folder, 'dist-marked'))
  const tollgate =
    (name: string, databases?: Readonly<Record<Kind, string>>): Start =>
    async (kind, env) => {
      const options = { name: `${name} ${kind}`, folder, upstreams, env }
      const more = {
        ...(databases !== undefined && { database: databases[kind] }),
        ...(kind === 'marked' && { program }),
      }
      return tollgateContender(name, await startTollgate({ ...options, ...more }))
    }
  const database = await startPostgres(folder)
  const databases = { plain: database, marked: await makeDatabase(database, 'marked') }
  const port = { BENCH_DATABASE_PORT: new URL(database).port }
  return [
    await subject(BARE_PROXY, async (_, env) =>
      bareProxyContender(await startBareProxy(folder, upstreams, env)),
    ),
    await subject(TOLLGATE_SQLITE, tollgate(TOLLGATE_SQLITE)),
    await subject(TOLLGATE_POSTGRES, (kind, env) =>
      tollgate(TOLLGATE_POSTGRES, databases)(kind, { ...env, ...port }),
    ),
  ]
}

type Environment = Readonly<Record<string, string>>
type Kind = 'plain' | 'marked'
type Start = (kind: Kind, env: Environment) => Promise<Contender>

async function oneByOne(
  contender: Contender,
  folder: string,
): Promise<Counted & { readonly sent: readonly Sent[] }> {
  const way = contender.wayOf(SMALL_1)
  if (way === undefined) throw new Error(`${contender.name} takes no requests`)
  const [requests, times] = [join(folder, 'requests'), join(folder, 'times')]
  writeFileSync(requests, textsOf(SMALL_1, way).join('\0'))
  const command = [process.execPath, CLIENT, way.url, '1', String(ROUND_SECONDS)]
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['--cpu-list', String(LOAD_CORE), ...command],
    { env: { ...process.env, BENCH_REQUESTS: requests, BENCH_TIMES: times } },
  )
  const counted = JSON.parse(stdout) as Counted
  if (counted.refused + counted.broken > 0) throw new Error(`${contender.name} failed: ${stdout}`)
  return { ...counted, sent: JSON.parse(readFileSync(times, 'utf8')) as Sent[] }
}

const WRITTEN_EVERY_MS = 50
const WRITTEN_MS_MAX = 20_000

async function marksOf({ name, pid }: Contender, file: string): Promise<readonly Marked[]> {
  process.kill(pid, 'SIGUSR2')
  for (let waitedMs = 0; waitedMs < WRITTEN_MS_MAX; waitedMs += WRITTEN_EVERY_MS) {
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Marked[]
    await sleep(WRITTEN_EVERY_MS)
  }
  throw new Error(`${name} has not written its marks`)
}

type Column = { readonly name: string; readonly found: Steps; readonly plainUs: number }

function tableOf(columns: readonly Column[]): string {
  const known = Object.entries(STEPS).filter(([step]) =>
    columns.some(({ found }) => found.microseconds.has(step)),
  )
  const lines = known.map(([step, text]) => [
    text,
    ...columns.map(({ found }) => timeText(found.microseconds.get(step))),
  ])
  return alignedTable([
    ['µs of one request, by the clock', ...columns.map(({ name }) => name)],
    ...lines,
    ['all of it', ...columns.map(({ found }) => timeText(found.wholeUs))],
    ['the same without marks (p50)', ...columns.map(({ plainUs }) => timeText(plainUs))],
  ])
}

function timeText(microseconds: number | undefined): string {
  return microseconds?.toFixed(0) ?? '–'
}
