// Starts the programs that make reserve-and-settle pairs, and reads their results.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Checkout } from '../checkout.ts'
import { THIS_CHECKOUT } from '../checkout.ts'
import { share } from '../measuring.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import type { PairsResult, PairsTask } from './loops.ts'

export type Books = Pick<PairsTask, 'database' | 'keyIds'> & {
  readonly folder: string
  readonly checkout?: Checkout
}

export type PairsProgram = 'tollgate' | 'bare'

type PairsRun = PairsTask & Books

const LOOPS = 64
const SECONDS = share(6)

/** The sum over all nodes, which share one core and the same keys. */
export async function pairsPerSecond(books: Books, nodes: number): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: nodes }, (_, node) =>
      runPairs(`tollgate-${node}`, 'tollgate', { ...books, loops: LOOPS, seconds: SECONDS }),
    ),
  )
  return results.reduce((sum, { pairs, seconds }) => sum + pairs / seconds, 0)
}

export async function runPairs(
  name: string,
  program: PairsProgram,
  { folder, checkout = THIS_CHECKOUT, ...task }: PairsRun,
): Promise<PairsResult> {
  const logFile = join(folder, `pairs-${name}.log`)
  await start({
    name: 'a node of the ledger',
    command: [process.execPath, join(checkout.root, 'bench', 'pairs', `${program}.ts`)],
    core: GATEWAY_CORE,
    env: { PAIRS_TASK: JSON.stringify(task) },
    logFile,
    ready: /ready/,
  })
  for (let waited = 0; waited < 20 * (task.seconds + 20); waited++) {
    const line = /^\{.*\}$/m.exec(readFileSync(logFile, 'utf8'))
    if (line !== null) return JSON.parse(line[0]) as PairsResult
    await sleep(50)
  }
  throw new Error(`a node of the ledger failed:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)
}
