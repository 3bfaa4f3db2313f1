// The programs of a benchmark: each pinned to a core, its output in a file, its CPU time and memory read from the
// kernel. Everything that was started ends with the benchmark.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The gateway has its own core; load, upstream and databases share the other one. */
export const GATEWAY_CORE = 0
export const LOAD_CORE = 1

export type Program = {
  readonly name: string
  readonly command: readonly string[]
  readonly core: number
  readonly env?: Readonly<Record<string, string>>
  /** The file for its output. */
  readonly logFile: string
  /** Matches once it is ready; its first group is the address. */
  readonly ready: RegExp
}

export type Running = {
  readonly url: string
  readonly pid: number
  /** From the start of the process until it was ready. */
  readonly startMs: number
  stop(): Promise<void>
}

const alive = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Keeps this process, and everything it starts without pinning, off the gateway's core. */
export function pinThisProcess(): void {
  if (availableParallelism() <= LOAD_CORE) {
    throw new Error('two cores are needed: one for the gateway, one for load and upstream')
  }
  const words = ['--all-tasks', '--cpu-list', '--pid', String(LOAD_CORE), String(process.pid)]
  const { status } = spawnSync('taskset', words)
  if (status !== 0)
    throw new Error('taskset is missing or failed: programs cannot be pinned to cores')
}

const READY_MS_MAX = 60_000
const READY_EVERY_MS = 5

export async function start(program: Program): Promise<Running> {
  const { command, core, env, logFile } = program
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'w')
  const from = performance.now()
  const child = spawn('taskset', ['--cpu-list', String(core), ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  alive.add(child)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(() => alive.delete(child))
  const url = await readiness(program, child)
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - from,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function readiness({ name, ready, logFile }: Program, child: ChildProcess): Promise<string> {
  for (let waitedMs = 0; waitedMs < READY_MS_MAX; waitedMs += READY_EVERY_MS) {
    const match = ready.exec(readFileSync(logFile, 'utf8'))
    if (match !== null) return match[1] ?? ''
    if (child.exitCode !== null || child.signalCode !== null) break
    await sleep(READY_EVERY_MS)
  }
  throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)
}

/** CPU time of all threads of a process, in nanoseconds. */
export function cpuNs(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    sum += Number(onCpu)
  }
  return sum
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
