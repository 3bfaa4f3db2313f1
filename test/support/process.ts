// Runs other programs for tests: starts them, watches what they print, and makes sure that they end.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'

export type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type Running = AsyncDisposable & {
  readonly pid: number
  /** What it has printed so far. */
  readonly text: { readonly stdout: string; readonly stderr: string }
  /** The first match in what it has printed or will print; if it ends first, or never prints it, fails with the rest. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
  /** Asks it to end (SIGTERM by default) and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export type StartOptions = {
  readonly cwd?: string
  /** Replaces the environment as a whole. */
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
}

/** Far more than any machine needs; without an end, a line whose words have changed would stop the whole suite. */
const PRINTED_MS_MAX = 180_000

/** For programs of this checkout. Like the launcher, keeps compiled code, which halves the time to start. */
export const bareEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? resolve('.cache/compiled'),
}

/** Nothing a test started outlives it. */
const alive = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
// How the runner ends a file that hangs.
process.once('SIGTERM', () => process.exit(1))

/** Runs a program to its end. */
export function run(
  command: string,
  args: readonly string[],
  options?: StartOptions,
): Promise<Ended> {
  return start(command, args, options).ended
}

/** Starts a program and lets it run; `await using` ends it with the test. */
export function start(
  command: string,
  args: readonly string[],
  options: StartOptions = {},
): Running {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const news = new EventEmitter()
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk
      news.emit('text')
    })
  alive.add(child)
  const ended = endOf(child).then((end) => {
    alive.delete(child)
    news.emit('text')
    return { ...end, ...text }
  })
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    if (child.exitCode === null) child.kill(signal)
    return ended
  }
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const signal = AbortSignal.timeout(PRINTED_MS_MAX)
    for (;;) {
      const match = pattern.exec(text.stdout) ?? pattern.exec(text.stderr)
      if (match) return match
      // Not before its pipes are closed: its last output may arrive after it exits.
      if (signal.aborted || !alive.has(child)) {
        const how = signal.aborted ? 'has not' : 'ended before it'
        throw new Error(
          `${command} ${how} printed ${String(pattern)}:\n${text.stdout}${text.stderr}`,
        )
      }
      // After the wait, too, what was printed is looked at once more.
      await once(news, 'text', { signal }).catch(() => {})
    }
  }
  return {
    pid: child.pid ?? 0,
    text,
    printed,
    ended,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL')
    },
  }
}

async function endOf(child: ChildProcess): Promise<Pick<Ended, 'code' | 'signal'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Pick<Ended, 'code' | 'signal'>>()
  child.on('error', reject)
  child.on('close', (code, signal) => resolve({ code, signal }))
  return promise
}

/** The processes that a process has started. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number))
  return pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))
}

/**
 * A free port, for programs that must be given one: those that can bind port 0 do that instead. Below the range of ports
 * that the system assigns by itself, so that no other test takes it in between.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    probe.close()
    if (free) return port
  }
}
