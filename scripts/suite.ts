// The two test commands, `npm run check` and `npm test`:
// `suite.ts quick` is types, lint, format and unit tests; `suite.ts all [PATTERN…]` is all, or the files that match.
// The last line is always "N passed, N failed"; the exit code is 1 if something failed or nothing ran.
import { globSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { runFiles } from './run-files.ts'
import type { Outcome } from './run-files.ts'
import { runTools } from './run-tools.ts'

const unitFiles = [
  'src/**/*.test.ts',
  'web/src/**/*.test.ts',
  'scripts/**/*.test.ts',
  'bench/*/*.test.ts',
  'test/tidy.test.ts',
]
// Those that take longest come first, so that all cores finish together.
const otherFiles = [
  'test/e2e/web/every-page.test.ts',
  'test/simulate/kill-loop.test.ts',
  'test/contract/admin*.test.ts',
  'test/{e2e/billing,faults,e2e/cli}/*.test.ts',
  'test/{clients,e2e,hostile,matrix,simulate}/**/*.test.ts',
  'test/*/**/*.test.ts',
]
/** What these hold must never break, so a single failure is one too many. */
const neverTwice = [
  'src/ledger/',
  'test/contract/ledger',
  'test/faults/',
  'test/hostile/',
  'test/simulate/',
]
/** If more files fail, it is not chance. */
const againMax = 3

const [mode, ...patterns] = process.argv.slice(2)
// Test files and the programs they start share one compile cache.
process.env['NODE_COMPILE_CACHE'] ??= resolve('.cache/compiled')
const interrupted = new AbortController()
// One Ctrl-C arrives several times; aborting twice does no harm.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

/** Files that failed beside others and passed alone. */
const unsteady: string[] = []
const outcomes = mode === 'quick' ? await quick() : await all()
process.exitCode = report(outcomes)
// Only what was started for the tests could keep this process alive, and it ends with it.
process.exit()

async function quick(): Promise<Outcome[]> {
  const tools = await runTools(interrupted.signal)
  return [tools, ...(await runFiles(find(unitFiles), interrupted.signal)).values()]
}

async function all(): Promise<Outcome[]> {
  const { signal } = interrupted
  const units = find(unitFiles)
  const others = find(otherFiles).filter((file) => !units.includes(file))
  if (patterns.length > 0) {
    const wanted = (file: string): boolean =>
      patterns.some((pattern) => relative('', file).includes(pattern))
    await giveServices()
    return [...(await runFiles([...others, ...units].filter(wanted), signal)).values()]
  }
  // Unit tests need no service, so they run while those are installed.
  const [tools, ofUnits] = await Promise.all([
    runTools(signal),
    runFiles(units, signal),
    giveServices(),
  ])
  const ofOthers = await runFiles(signal.aborted ? [] : others, signal)
  const outcomes = new Map([...ofUnits, ...ofOthers])
  return [tools, ...(await steadied(outcomes)).values()]
}

/**
 * In a whole run, more happens at once than a machine has cores for, and a test that waits for a page, a process or a
 * clock may wait in vain. The few files that failed are run once more, alone, and the report names them.
 */
async function steadied(
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<ReadonlyMap<string, Outcome>> {
  const files = [...outcomes.keys()]
  const failed = files.filter((file) => outcomes.get(file)?.failures.length)
  const mayRepeat = (file: string): boolean =>
    !neverTwice.some((path) => relative('', file).startsWith(path))
  if (failed.length > againMax || !failed.every(mayRepeat)) return outcomes
  for (const file of failed) console.log(`again, alone: ${relative('', file)}`)
  const again = await runFiles(failed, interrupted.signal, 1)
  for (const [file, { failures }] of again)
    if (failures.length === 0) unsteady.push(relative('', file))
  return new Map([...outcomes, ...again])
}

async function giveServices(): Promise<void> {
  const { findChromium } = await import('../test/support/web/chromium.ts')
  await Promise.all([givePostgres(), findChromium().catch(complain)])
}

/** One server for the whole run. */
async function givePostgres(): Promise<void> {
  if (process.env['TOLLGATE_TEST_POSTGRES']) return
  const { startPostgres } = await import('../test/support/postgres/postgres.ts')
  const url = await startPostgres().catch(complain)
  if (url) process.env['TOLLGATE_TEST_POSTGRES'] = url
}

/** Only prints: without PostgreSQL or Chromium, each test that needs it fails with the same message. */
function complain(error: unknown): undefined {
  console.log(error instanceof Error ? error.message : error)
}

function find(globs: readonly string[]): string[] {
  const files = globs.flatMap((glob) => globSync(glob).toSorted())
  return [...new Set(files)].map((file) => resolve(file))
}

function report(outcomes: readonly Outcome[]): number {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const failures = outcomes.flatMap((outcome) => outcome.failures)
  const skips = outcomes.flatMap((outcome) => outcome.skips)
  for (const { name, reason } of skips) console.log(`skipped ${name}: ${reason}`)
  if (skips.length > 0) console.log(`${skips.length} skipped`)
  for (const file of unsteady) console.log(`unsteady: ${file} failed beside others, passed alone`)
  for (const { name, detail } of failures)
    console.log(`\nFAILED ${name}\n${detail.trimEnd().replace(/^/gm, '  ')}`)
  if (interrupted.signal.aborted) console.log('\ninterrupted')
  console.log(`\n${passed} passed, ${failures.length} failed`)
  return failures.length > 0 || passed === 0 || interrupted.signal.aborted ? 1 : 0
}
