// Reserve-and-settle pairs in loops, as many as the books accept, and what each costs. What to do comes from the
// environment; the result is printed as one line of JSON.

export type PairsTask = {
  readonly database: string
  readonly keyIds: readonly string[]
  /** Pairs in flight at any time. */
  readonly loops: number
  readonly seconds: number
}

export type PairsResult = {
  readonly pairs: number
  readonly seconds: number
  readonly cpuUs: number
  /** The longest time of any pair. */
  readonly slowestMs: number
}

/** Makes a hold on this key and settles it. */
export type Pair = (keyId: string) => Promise<void>

export const task = JSON.parse(process.env['PAIRS_TASK'] ?? '') as PairsTask

export async function runLoops(pair: Pair): Promise<void> {
  console.log('ready')
  await inLoops(pair, task.seconds / 3)
  const cpu = process.cpuUsage()
  const from = performance.now()
  const { pairs, slowestMs } = await inLoops(pair, task.seconds)
  const used = process.cpuUsage(cpu)
  const result: PairsResult = {
    pairs,
    seconds: (performance.now() - from) / 1000,
    cpuUs: (used.user + used.system) / pairs,
    slowestMs,
  }
  console.log(JSON.stringify(result))
}

async function inLoops(
  pair: Pair,
  seconds: number,
): Promise<{ readonly pairs: number; readonly slowestMs: number }> {
  const until = performance.now() + seconds * 1000
  let pairs = 0
  let slowestMs = 0
  const run = async (loop: number): Promise<void> => {
    for (let at = performance.now(), turn = loop; at < until; turn++) {
      await pair(task.keyIds[turn % task.keyIds.length] ?? '')
      const now = performance.now()
      slowestMs = Math.max(slowestMs, now - at)
      at = now
      pairs++
    }
  }
  await Promise.all(Array.from({ length: task.loops }, (_, loop) => run(loop)))
  return { pairs, slowestMs }
}
