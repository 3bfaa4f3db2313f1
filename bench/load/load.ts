// Puts load on a contender and measures it: with wrk if it is installed, else with a client on Node (client.ts), which
// also measures what wrk cannot: when the first event of a stream arrives.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { cpuNs, LOAD_CORE, othersNs } from '../processes.ts'

export type Load = {
  readonly url: string
  /** The process whose CPU time is measured. */
  readonly pid: number
  /** CPU time of its database server, if it has one. */
  readonly databaseCpuNs?: (() => number) | undefined
  /** As sent over the wire, in rotation. */
  readonly requests: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Also measures the time to the first event. */
  readonly untilFirstEvent?: boolean
}

export type Measured = {
  readonly requests: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** The median time to the first event; only if requested. */
  readonly firstEventUs?: number
  /** CPU time of the contender per request, all threads together. */
  readonly cpuUs: number
  /** The same of its database server, if it has one. */
  readonly databaseCpuUs?: number
  /** The share of one core the contender used: far below 1, something else was the bottleneck. */
  readonly coreShare: number
  /** The share of answers with a status of 400 or more. */
  readonly refusedShare: number
  /** The share of both cores that went to programs which are not part of the benchmark. */
  readonly othersShare: number
}

/** The last line that both clients print. */
export type Counted = {
  readonly requests: number
  readonly durationUs: number
  readonly refused: number
  readonly broken: number
  readonly p50Us: number
  readonly p99Us: number
  readonly firstEventUs?: number
}

export function loadProgram(): 'wrk' | 'a client on Node' {
  return spawnSync('wrk', ['--version']).error === undefined ? 'wrk' : 'a client on Node'
}

export async function runLoad(load: Load, folder: string): Promise<Measured> {
  const file = join(folder, 'requests')
  writeFileSync(file, load.requests.join('\0'))
  const command =
    loadProgram() === 'wrk' && load.untilFirstEvent !== true
      ? wrkCommand(load)
      : clientCommand(load)
  const timesNow = () => ({
    own: cpuNs(load.pid),
    database: load.databaseCpuNs?.(),
    others: othersNs(),
  })
  const from = performance.now()
  const before = timesNow()
  const child = spawn('taskset', ['--cpu-list', String(LOAD_CORE), ...command], {
    env: { ...process.env, BENCH_REQUESTS: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
  const after = timesNow()
  const passedNs = (performance.now() - from) * 1e6
  const cpu = after.own - before.own
  const lastLine = printed.trimEnd().split('\n').at(-1) ?? ''
  if (!lastLine.startsWith('{')) throw new Error(`${command[0]} failed: ${printed.slice(-500)}`)
  const counted = JSON.parse(lastLine) as Counted
  if (counted.broken > 0) throw new Error(`${counted.broken} connections broke`)
  if (counted.requests === 0) throw new Error(`no answer within ${load.seconds} s`)
  const { requests, p50Us, p99Us, firstEventUs } = counted
  return {
    requests,
    perSecond: requests / (counted.durationUs / 1e6),
    p50Us,
    p99Us,
    ...(firstEventUs === undefined ? {} : { firstEventUs }),
    cpuUs: cpu / 1000 / requests,
    coreShare: cpu / 1000 / counted.durationUs,
    ...(before.database === undefined || after.database === undefined
      ? {}
      : { databaseCpuUs: (after.database - before.database) / 1000 / requests }),
    refusedShare: counted.refused / requests,
    othersShare: (after.others - before.others) / passedNs / 2,
  }
}

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url))
const CLIENT = fileURLToPath(new URL('./client.ts', import.meta.url))

function wrkCommand({ url, connections, seconds }: Load): readonly string[] {
  return ['wrk', '--threads', '1', '--connections', String(connections)]
    .concat(['--duration', `${Math.ceil(seconds)}s`, '--timeout', '20s'])
    .concat(['--script', SCRIPT, url])
}

function clientCommand({ url, connections, seconds }: Load): readonly string[] {
  return [process.execPath, CLIENT, url, String(connections), String(seconds)]
}
