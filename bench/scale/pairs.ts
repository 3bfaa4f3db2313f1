// Reserve-and-settle pairs per second with direct calls to the ledger: no HTTP, no upstream, only the books.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { share } from '../effort.ts'
import type { PairsResult, PairsTask } from '../pairs-node.ts'
import { GATEWAY_CORE, start } from '../processes.ts'

const NODE = fileURLToPath(new URL('../pairs-node.ts', import.meta.url))
const LOOPS = 64
const SECONDS = share(6)

export type Books = {
  readonly database: string
  readonly keyIds: readonly string[]
  readonly folder: string
}

/** The sum over all nodes, which share one core and the same keys. */
export async function pairsPerSecond(books: Books, nodes: number): Promise<number> {
  const { database, keyIds, folder } = books
  const task: PairsTask = { database, keyIds, loops: LOOPS, seconds: SECONDS }
  const logFiles = Array.from({ length: nodes }, (_, node) => join(folder, `pairs-${node}.log`))
  await Promise.all(logFiles.map((logFile) => startNode(task, logFile)))
  const results = await Promise.all(logFiles.map(resultOf))
  return results.reduce((sum, { pairs, seconds }) => sum + pairs / seconds, 0)
}

async function startNode(task: PairsTask, logFile: string): Promise<void> {
  await start({
    name: 'a node of the ledger',
    command: [process.execPath, NODE],
    core: GATEWAY_CORE,
    env: { PAIRS_TASK: JSON.stringify(task) },
    logFile,
    ready: /ready/,
  })
}

async function resultOf(logFile: string): Promise<PairsResult> {
  for (let waited = 0; waited < 20 * (SECONDS + 20); waited++) {
    const line = /^\{.*\}$/m.exec(readFileSync(logFile, 'utf8'))
    if (line !== null) return JSON.parse(line[0]) as PairsResult
    await sleep(50)
  }
  throw new Error(`a node of the ledger failed:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)
}
