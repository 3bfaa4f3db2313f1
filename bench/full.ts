// The full benchmark: every contender at every workload, in about a quarter of an hour. Prints one table, and writes it as
// JSON and as a plot to bench/results.
import { join } from 'node:path'
import { installWithApt } from '../test/support/apt.ts'
import { startField, TOLLGATE_SQLITE, tollgateOnSqlite } from './contenders/all.ts'
import type { Contender } from './contenders/contender.ts'
import {
  BARE_PROXY,
  bareProxyContender,
  UPSTREAM,
  UPSTREAM_MINIMUM,
} from './contenders/contender.ts'
import { findNginx } from './contenders/nginx.ts'
import { PORTKEY, startPortkey } from './contenders/portkey.ts'
import { stopPostgres } from './contenders/postgres.ts'
import { startBareProxy, startUpstreams } from './contenders/servers.ts'
import type { Upstreams } from './contenders/servers.ts'
import { loadProgram } from './load/load.ts'
import { describeMachine, machineText } from './machine.ts'
import { effort, median, runFolder, share } from './measuring.ts'
import type { Memory } from './memory.ts'
import { bytesPerStream, MEMORY_REQUESTS, memoryOf } from './memory.ts'
import { pinThisProcess } from './processes.ts'
import { rowsOf } from './report/all-rows.ts'
import { writeResults } from './report/files.ts'
import { plotOf } from './report/plot.ts'
import { figureOf } from './report/rows.ts'
import { tableOf } from './report/table.ts'
import type { Rounds } from './rounds.ts'
import { measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { measureSteps } from './steps/steps.ts'
import { measureTracing } from './tracing.ts'
import { judge, targetsTable } from './targets.ts'
import type { Workload } from './workloads.ts'
import { SMALL_32, WORKLOADS } from './workloads.ts'

const COURSE = { rounds: share(3), seconds: ROUND_SECONDS, warmSeconds: share(2) }

export async function full(): Promise<number> {
  pinThisProcess()
  if (loadProgram() !== 'wrk') installWithApt('wrk')
  if (findNginx() === undefined) installWithApt('nginx-light')
  const folder = runFolder()
  const machine = describeMachine(folder)
  console.log(machineText(machine))
  const upstreams = await startUpstreams(folder)
  const { contenders, missing } = await startField(folder, upstreams)
  const memory = await warmAll(contenders, folder)
  const results = new Map<Workload, ReadonlyMap<string, Rounds>>()
  for (const workload of WORKLOADS) {
    say(workload.name)
    results.set(workload, await measure(contenders, workload, { folder, ...COURSE }))
  }
  const streams = await measureStreams(folder, upstreams)
  await stopPostgres()
  say('tracing')
  const { text: tracing } = await measureTracing(folder, upstreams)
  say('steps')
  const steps = await measureSteps(join(folder, 'steps'), upstreams)
  await stopPostgres()
  const rows = rowsOf({ results, memory, streams, contenders })
  const names = contenders.map(({ name }) => name)
  const targets = judge(rows.promised, machine.commitUs)
  const table = [
    `${machineText(machine)}.${effort < 1 ? ` A trial: ${effort} of a whole run.` : ''}`,
    tableOf(rows.all, names),
    ...missing.map((line) => `Left out: ${line.split('\n')[0]}`),
    targetsTable(targets),
    `${steps}\n`,
  ].join('\n\n')
  console.log(table)
  console.log(`${tracing}\n`)
  writeResults({
    json: { machine, effort, rows: rows.all, targets, missing, rounds: roundsJson(results) },
    table,
    plot: plotOf(rows.all, names),
  })
  const upstreamRatio = figureOf(rows.promised.small32, UPSTREAM)?.ratio ?? 0
  if (upstreamRatio >= UPSTREAM_MINIMUM) return 0
  console.error(
    `the upstream makes only ${upstreamRatio.toFixed(1)} bare proxies, and ${UPSTREAM_MINIMUM} are needed for a comparison: nothing here is worth publishing.`,
  )
  return 1
}

/** Also measures memory growth, which takes more requests than any warm-up. */
async function warmAll(
  contenders: readonly Contender[],
  folder: string,
): Promise<ReadonlyMap<string, Memory>> {
  const memory = new Map<string, Memory>()
  for (const contender of contenders) {
    const { name } = contender
    if (name === UPSTREAM) continue
    say(`warming up: ${name}`)
    if (name === BARE_PROXY || name === TOLLGATE_SQLITE) {
      memory.set(name, await memoryOf(contender, folder))
    } else {
      // V8 keeps compiling code that runs once per request for well over a hundred thousand requests: as many as above.
      const work = { folder, requests: 2 * MEMORY_REQUESTS, secondsMax: share(60) }
      // A contender that cannot serve this fails again in the rounds, which report it.
      await warmUp(contender, SMALL_32, work).catch(() => {})
    }
  }
  return memory
}

type StreamMemory = number | { readonly failed: string }

/** On freshly started programs, so that memory of earlier rounds is not reused; the median of several. */
async function measureStreams(
  folder: string,
  upstreams: Upstreams,
): Promise<ReadonlyMap<string, StreamMemory>> {
  const starts: readonly (readonly [string, (fresh: string) => Promise<Contender>])[] = [
    [BARE_PROXY, async (fresh) => bareProxyContender(await startBareProxy(fresh, upstreams))],
    [TOLLGATE_SQLITE, (fresh) => tollgateOnSqlite(fresh, upstreams)],
    [PORTKEY, (fresh) => startPortkey(fresh, upstreams)],
  ]
  const rounds = new Map<string, number[]>()
  const failed = new Map<string, { readonly failed: string }>()
  for (let round = 0; round < COURSE.rounds; round++) {
    for (const [name, start] of starts) {
      say(`open streams: ${name}`)
      try {
        const bytes = await bytesPerStream(await start(join(folder, `fresh-${round}`)), folder)
        rounds.set(name, [...(rounds.get(name) ?? []), bytes])
      } catch (error) {
        failed.set(name, { failed: String(error) })
      }
    }
  }
  const streams = new Map<string, StreamMemory>()
  for (const [name, bytes] of rounds) streams.set(name, median(bytes))
  for (const [name, failure] of failed) streams.set(name, failure)
  return streams
}

function roundsJson(results: ReadonlyMap<Workload, ReadonlyMap<string, Rounds>>): object {
  return Object.fromEntries(
    [...results].map(([{ name }, own]) => [name, Object.fromEntries(own)] as const),
  )
}

function say(what: string): void {
  console.error(`bench: ${what}`)
}
