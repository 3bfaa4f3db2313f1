// Runs test files with node:test, one process each, two more at a time than there are cores, and collects the outcome of
// each. Prints one line when a file is done; suite.ts prints the report at the end.
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { run } from 'node:test'
import type { EventData } from 'node:test'
import { inspect } from 'node:util'

export type Outcome = {
  readonly passed: number
  readonly failures: readonly Failure[]
  readonly skips: readonly Skip[]
}

type Failure = { readonly name: string; readonly detail: string }
type Skip = { readonly name: string; readonly reason: string }

/** What is known of a file while it runs. */
type FileRun = {
  passed: number
  output: string
  readonly failures: Failure[]
  readonly skips: Skip[]
}

/** Longer than any sound test needs on a slow machine. */
const silenceMsMax = 600_000

/** A file often waits for a process, a disk or a clock: meanwhile others can run. */
const usuallyAtOnce = availableParallelism() + 2

/** The outcome of each file, by its path. */
export async function runFiles(
  files: readonly string[],
  signal: AbortSignal,
  atOnce = usuallyAtOnce,
): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const waiting = [...files]
  const runNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      outcomes.set(file, await runFile(file, signal))
  }
  await Promise.all(Array.from({ length: atOnce }, runNext))
  return outcomes
}

/** A file that reports nothing for long is ended: a failed test may have left something that keeps it alive for ever. */
async function runFile(file: string, interrupted: AbortSignal): Promise<Outcome> {
  const fileRun: FileRun = { passed: 0, output: '', failures: [], skips: [] }
  const silent = new AbortController()
  const alarm = setTimeout(
    () => silent.abort(new Error('ended: it reported nothing for ten minutes')),
    silenceMsMax,
  )
  const signal = AbortSignal.any([interrupted, silent.signal])
  for await (const { type, data } of run({ files: [file], signal })) {
    alarm.refresh()
    if (type === 'test:stdout' || type === 'test:stderr') fileRun.output += data.message
    // The end of a file arrives as one more test, named by its path.
    else if (type === 'test:complete' && data.name === file) endFile(fileRun, data)
    else if (type === 'test:complete') endTest(fileRun, data)
  }
  clearTimeout(alarm)
  // A file's output arrives after its end, so it is added here.
  return withOutput(file, fileRun)
}

function endTest(fileRun: FileRun, data: EventData.TestComplete): void {
  const name = `${relative('', data.file ?? '')}: ${data.name}`
  const skip = data.skip ?? data.todo
  if (typeof skip === 'string' && skip !== '') fileRun.skips.push({ name, reason: skip })
  else if (skip !== undefined) fileRun.failures.push({ name, detail: 'skipped without a reason' })
  else if (data.details.passed) fileRun.passed += data.details.type === 'suite' ? 0 : 1
  else if (isOwnFailure(data)) fileRun.failures.push({ name, detail: describe(data.details.error) })
}

function endFile(fileRun: FileRun, data: EventData.TestComplete): void {
  const name = relative('', data.name)
  if (isOwnFailure(data)) fileRun.failures.push({ name, detail: describe(data.details.error) })
  const { passed, failures, skips } = fileRun
  if (passed + failures.length + skips.length === 0)
    failures.push({ name, detail: 'holds no test' })
  const seconds = (data.details.duration_ms / 1000).toFixed(1)
  const verdict = failures.length === 0 ? 'ok  ' : 'FAIL'
  console.log(`${verdict} ${name}: ${passed} passed, ${failures.length} failed, ${seconds} s`)
  // Printed at once, in short: the end of a long run's output is not always kept.
  for (const failure of failures) console.log(`     ${failure.name}\n       ${firstLine(failure)}`)
}

/** False for a suite or file that failed only because of a test inside it, which was already counted. */
function isOwnFailure({ details }: EventData.TestComplete): boolean {
  const type = details.error && 'failureType' in details.error && details.error.failureType
  return !details.passed && type !== 'subtestsFailed'
}

function withOutput(file: string, { passed, failures, skips, output }: FileRun): Outcome {
  const last = failures.at(-1)
  if (last === undefined || output.trim() === '') return { passed, failures, skips }
  const detail = `${last.detail}\n\nprinted by ${relative('', file)}:\n${output}`
  return { passed, failures: [...failures.slice(0, -1), { ...last, detail }], skips }
}

function firstLine({ detail }: Failure): string {
  return detail.split('\n', 1)[0] ?? ''
}

function describe(error: Error | undefined): string {
  const cause = error?.cause ?? error
  return inspect(cause, { depth: 6 })
}
