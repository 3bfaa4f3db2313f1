// What a person at a terminal sees of long work, and is asked before it: on standard error, so that standard output stays
// the result. Nothing is drawn elsewhere: a log would only hold the strokes of a bar.
import { createInterface } from 'node:readline/promises'
import { clearLine, cursorTo } from 'node:readline'
import { systemClock } from '../../core/clock.ts'
import { UsageError } from './failure.ts'

const WIDTH = 30
const DRAW_EVERY_MS = 100

/** A bar that fills while `work` advances towards the total, and is gone when it ends. */
export async function withProgress<Result>(
  { what, total }: { readonly what: string; readonly total: number },
  work: (advance: (by: number) => void) => Promise<Result>,
): Promise<Result> {
  const { stderr } = process
  if (!stderr.isTTY) return work(() => {})
  let done = 0
  let drawnMs = -Infinity
  const advance = (by: number): void => {
    done += by
    const nowMs = systemClock.monotonicMs()
    if (nowMs - drawnMs < DRAW_EVERY_MS) return
    drawnMs = nowMs
    cursorTo(stderr, 0)
    stderr.write(barText(what, done / total).slice(0, stderr.columns - 1))
    clearLine(stderr, 1)
  }
  advance(0)
  try {
    return await work(advance)
  } finally {
    cursorTo(stderr, 0)
    clearLine(stderr, 0)
  }
}

/** `Writing  ━━━━━━━━━┄┄┄┄  42 %` */
export function barText(what: string, part: number): string {
  const share = Number.isFinite(part) ? Math.min(1, part) : 1
  const filled = Math.floor(share * WIDTH)
  const bar = '━'.repeat(filled) + '┄'.repeat(WIDTH - filled)
  return `${what}  ${bar}  ${Math.floor(share * 100)} %`
}

/** False unless the answer is yes. Where nobody can be asked, `--yes` must have said it. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError('there is no terminal to ask at: add --yes')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
