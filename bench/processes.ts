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

/** The same of a process and all that it started, such as PostgreSQL, where each connection is a process of its own. */
export function cpuNsOfAll(pid: number): number {
  const table = processTable()
  const family = [pid]
  // A process that is added here is looked at in its turn.
  for (const parent of family) {
    for (const [child, stat] of table) if (stat.parent === parent) family.push(child)
  }
  const times = family.map((each) => cpuNsIfAlive(each) + (table.get(each)?.endedChildrenNs ?? 0))
  return times.reduce((sum, ns) => sum + ns, 0)
}

type Stat = {
  readonly parent: number
  /** CPU time of the processes that it started and that have ended. */
  readonly endedChildrenNs: number
}

/** The kernel's clock ticks, as every program sees them. */
const TICKS_PER_SECOND = 100
const TICK_NS = 1e9 / TICKS_PER_SECOND

function processTable(): ReadonlyMap<number, Stat> {
  const table = new Map<number, Stat>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const text = readIfAlive(`/proc/${pid}/stat`)
    // The second field is the program's name in brackets, and may hold anything; these are the fields from the third on.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [parent = 0, user = 0, system = 0] = [1, 13, 14].map((index) => Number(fields[index]))
    table.set(pid, { parent, endedChildrenNs: (user + system) * TICK_NS })
  }
  return table
}

function cpuNsIfAlive(pid: number): number {
  try {
    return cpuNs(pid)
  } catch {
    return 0
  }
}

function readIfAlive(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * How long the two cores have worked for programs that this one did not start, in nanoseconds since some moment: what
 * else ran during a measurement. Time that was taken from a virtual machine counts as well.
 */
export function othersNs(): number {
  const cores = readFileSync('/proc/stat', 'utf8').match(/^cpu[01] .*$/gm) ?? []
  const idle = cores.map((line) => {
    const [, , , , idling = 0, waiting = 0] = line.split(' ').map(Number)
    return (idling + waiting) * TICK_NS
  })
  const passed = Number(process.hrtime.bigint()) * cores.length
  return passed - idle.reduce((sum, ns) => sum + ns, 0) - cpuNsOfAll(process.pid)
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}
