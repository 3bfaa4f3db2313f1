// The two test commands, called by check.mjs and test.mjs once runtime and dependencies are there:
// `suite.ts quick` is types, lint, format and unit tests; `suite.ts all [PATTERN…]` is everything, or the files that match.
// The last line is always "N passed, N failed"; the exit code is 1 when something failed or nothing ran.
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { runFiles } from './run-files.ts'
import type { Outcome } from './run-files.ts'
import { runTools } from './run-tools.ts'

const unitFiles = ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'test/tidy.test.ts']
const otherFiles = ['test/**/*.test.ts']

const [mode, ...patterns] = process.argv.slice(2)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

const outcomes =
  mode === 'quick' ? await quick() : patterns.length > 0 ? await matching() : await all()
process.exitCode = report(outcomes)

async function quick(): Promise<Outcome[]> {
  return [await runTools(interrupted.signal), await runFiles(find(unitFiles), interrupted.signal)]
}

async function all(): Promise<Outcome[]> {
  return [
    await runTools(interrupted.signal),
    await runFiles(find([...unitFiles, ...otherFiles]), interrupted.signal),
  ]
}

async function matching(): Promise<Outcome[]> {
  const files = find([...unitFiles, ...otherFiles])
  return [
    await runFiles(
      files.filter((file) => patterns.some((pattern) => file.includes(pattern))),
      interrupted.signal,
    ),
  ]
}

function find(globs: readonly string[]): string[] {
  return [...new Set(globSync([...globs]))].toSorted().map((file) => resolve(file))
}

function report(outcomes: readonly Outcome[]): number {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const failures = outcomes.flatMap((outcome) => outcome.failures)
  const skips = outcomes.flatMap((outcome) => outcome.skips)
  for (const { name, reason } of skips) console.log(`skipped ${name}: ${reason}`)
  for (const { name, detail } of failures)
    console.log(`\nFAILED ${name}\n${detail.trimEnd().replace(/^/gm, '  ')}`)
  if (interrupted.signal.aborted) console.log('\ninterrupted')
  const skipped = skips.length > 0 ? `, ${skips.length} skipped` : ''
  console.log(`\n${passed} passed, ${failures.length} failed${skipped}`)
  return failures.length > 0 || passed === 0 || interrupted.signal.aborted ? 1 : 0
}
