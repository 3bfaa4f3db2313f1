// Whole answers under load, by wrk: many connections, each sending its next request when the answer to the last one is
// there.
import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cpuNs, LOAD_CORE } from '../processes.ts'

export type Load = {
  readonly url: string
  /** The process whose processor time counts. */
  readonly pid: number
  /** As they go over the wire; sent in turn. */
  readonly requests: readonly string[]
  readonly connections: number
  readonly seconds: number
}

export type Measured = {
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** Processor time of the contender per request, all threads together. */
  readonly cpuUs: number
  /** The share of answers with a status of 400 or more. */
  readonly refusedShare: number
}

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url))

export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined
}

export async function runWrk(load: Load, folder: string): Promise<Measured> {
  const file = join(folder, 'requests')
  writeFileSync(file, load.requests.join('\0'))
  const before = cpuNs(load.pid)
  const child = spawn(
    'taskset',
    ['--cpu-list', String(LOAD_CORE), 'wrk', '--threads', '1']
      .concat(['--connections', String(load.connections), '--duration', `${load.seconds}s`])
      .concat(['--timeout', '20s', '--script', SCRIPT, load.url]),
    { env: { ...process.env, BENCH_REQUESTS: file }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const printed = await text(child.stdout)
  const cpu = cpuNs(load.pid) - before
  const result = JSON.parse(printed.slice(printed.lastIndexOf('\n{'))) as WrkResult
  if (result.requests === 0 || result.broken > 0) {
    throw new Error(`${load.url} broke ${result.broken} of ${result.requests} requests`)
  }
  return {
    perSecond: result.requests / (result.durationUs / 1e6),
    p50Us: result.p50Us,
    p99Us: result.p99Us,
    cpuUs: cpu / 1000 / result.requests,
    refusedShare: result.refused / result.requests,
  }
}

type WrkResult = {
  readonly requests: number
  readonly durationUs: number
  readonly refused: number
  readonly broken: number
  readonly p50Us: number
  readonly p99Us: number
}
