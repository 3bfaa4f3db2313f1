// The database as a whole: `tollgate backup`, `restore`, `move` and `migrate`. A backup is of one moment and beside
// running servers; the others change everything at once, or nothing.
import { existsSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { Option, type Command } from 'commander'
import { version } from '../config/version.ts'
import { iso } from '../core/units.ts'
import { forgetJournals, refuseWhileServing } from '../ledger/nodes/membership.ts'
import { type Violation, verifyLedger } from '../ledger/reports/verify.ts'
import {
  readBackup,
  readHead,
  refuseExisting,
  sizeOf,
  type Head,
  writeBackup,
  writeLines,
} from '../store/backup/file.ts'
import { readAll, tallyAll, totalRows, type Tallies, whyUnequal } from '../store/backup/rows.ts'
import { atOneMoment, refuseForeign, replaceRows, tablesIn } from '../store/backup/transaction.ts'
import { StoreError } from '../store/database/errors.ts'
import { planMigration, type Plan } from '../store/database/migrate.ts'
import { databaseNow, type Store } from '../store/database/store.ts'
import type { Tx } from '../store/database/tables.ts'
import { describeDatabaseUrl, sqlitePath } from '../store/database/url.ts'
import {
  common,
  inspectStore,
  lookAtStore,
  readDatabaseConfig,
  replaceStore,
  type CommonOptions,
  withStore,
} from './command/context.ts'
import { demand, examples } from './command/options.ts'
import { violationsText } from './ledger.ts'
import { onEndSignal } from './serve/workers.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
import {
  exactTime,
  printHint,
  printJson,
  printNote,
  printText,
  printWarning,
} from './terminal/output.ts'
import { confirm, withProgress } from './terminal/progress.ts'

export function addBackup(program: Command): void {
  common(program.command('backup'))
    .description(
      'Write everything in the database to a file, as it is at this moment. Servers go on meanwhile. ' +
        'The file holds hashes of secrets and whatever people see here: keep it as safe as the database. ' +
        'It does not hold TOLLGATE_SECRET.',
    )
    .argument('<FILE>', 'the file to write; it must not exist')
    .addHelpText(...examples('tollgate backup tollgate-2026-11-18.backup'))
    .action(backup)
}

async function backup(file: string, options: CommonOptions): Promise<void> {
  refuseExisting(file)
  const interrupted = new AbortController()
  onEndSignal(() => interrupted.abort())
  // Servers on this machine come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const { head, bytes } = await lookAtStore(readDatabaseConfig(options), (store) =>
    atOneMoment(store, async (tx) => {
      const head = await headOf(store, tx)
      const total = totalRows(head.tallies)
      const bytes = await withProgress({ what: 'Writing', total }, (advance) =>
        writeBackup(file, writeLines(head, readAll(tx, advance)), interrupted.signal),
      )
      return { head, bytes }
    }),
  )
  const rows = totalRows(head.tallies)
  if (options.json) printJson({ file, bytes, rows, taken_at: iso(head.takenAt) })
  else
    printText(
      `Wrote ${file}: ${rows} rows as of ${exactTime(head.takenAt)}, with their checksum, in ${bytes} bytes.`,
    )
  printNote('the backup does not contain TOLLGATE_SECRET: keep it too, and elsewhere')
  printNote('a restore of it will forget what is spent from now on')
}

/** Its first query sets the moment of the transaction. */
async function headOf(store: Store, tx: Tx): Promise<Head> {
  await tx.selectFrom('meta').select('name').limit(1).execute()
  const takenAt = await databaseNow(store, tx)
  return { tollgate: version, database: store.kind, takenAt, tallies: await tallyAll(tx) }
}

type RestoreOptions = CommonOptions & { readonly yes?: true; readonly unbalanced?: true }

export function addRestore(program: Command): void {
  common(program.command('restore'))
    .description(
      'Put a backup in the place of everything in the database, which may be of the other kind. ' +
        'Servers must be stopped. The file is checked first; then all of it is restored, or nothing changes.',
    )
    .argument('<FILE>', 'a file that `tollgate backup` wrote')
    .option('--yes', 'do not ask')
    .option('--unbalanced', 'also if the books in it do not balance')
    .addHelpText(...examples('tollgate restore tollgate-2026-11-18.backup'))
    .action(restore)
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const { database, ledger } = readDatabaseConfig(options)
  const address = describeDatabaseUrl(database)
  const head = await checked(file)
  await withNothingLeft(database, (store) =>
    restoreInto(store, { file, head, address, ledger, options }),
  )
  const rows = totalRows(head.tallies)
  if (options.json) printJson({ file, database: address, rows, taken_at: iso(head.takenAt) })
  else
    printText(
      `Restored ${rows} rows to ${address}, as they were at ${exactTime(head.takenAt)}. Every figure is that of the backup.`,
    )
  printNote('the backup did not contain TOLLGATE_SECRET: serve with the one of that time')
  printNote(FORGOTTEN)
}

const FORGOTTEN =
  'what was spent since the backup is forgotten, and access that was withdrawn since is back'

/** All of it, before anybody is asked: a file that is damaged in its last line would be refused only then. */
async function checked(file: string): Promise<Head> {
  const head = await readHead(file)
  await withProgress({ what: 'Checking', total: await sizeOf(file) }, async (advance) => {
    for await (const _ of readBackup(file, advance));
  })
  return head
}

type Restore = {
  readonly file: string
  readonly head: Head
  readonly address: string
  readonly ledger: { readonly deadAfterMs: number }
  readonly options: RestoreOptions
}

async function restoreInto(store: Store, work: Restore): Promise<void> {
  const { file, head, address, ledger, options } = work
  await refuseForeign(store, address)
  const before = await refuseWhileServing(store, ledger)
  if (!options.yes) {
    printHint(
      `Everything in ${address} will be replaced by the backup of ${exactTime(head.takenAt)}; ${FORGOTTEN}.`,
    )
    if (!(await confirm('Restore it?'))) throw new FailureError('nothing was changed')
  }
  const after = async (tx: Tx): Promise<void> => {
    await forgetJournals(tx)
    const violations = await verifyLedger({ ...store, db: tx })
    if (violations.length === 0 || options.unbalanced) return
    throw new FailureError(
      `${violationsText(violations)}\nSo nothing was changed. To restore this backup all the same, add --unbalanced.`,
    )
  }
  const { tallies } = head
  await withProgress({ what: 'Restoring', total: await sizeOf(file) }, (advance) =>
    replaceRows(store, { pages: readBackup(file, advance), tallies, before, after }),
  )
}

/** A file that was made for a restore which failed is removed again. */
async function withNothingLeft(
  database: string,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const file = sqlitePath(database)
  const isNew = file !== undefined && !existsSync(file)
  try {
    await replaceStore(database, work)
  } catch (error) {
    if (isNew) for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    throw error
  }
}

type MoveOptions = CommonOptions & { readonly to: string }

export function addMove(program: Command): void {
  const to = new Option('--to <url>', 'an empty database, as postgresql://USER@HOST:PORT/NAME')
  demand(common(program.command('move')), [to])
    .description(
      'Copy everything from the configured SQLite database to PostgreSQL. Servers must be stopped, and the target empty. ' +
        'Rows, sums and the checks of the books are compared before anything is kept there; the SQLite database stays as it is.',
    )
    .addHelpText(...examples('tollgate move --to postgresql://tollgate@db/tollgate'))
    .action(move)
}

async function move(options: MoveOptions): Promise<void> {
  const config = readDatabaseConfig(options)
  const [from, to] = [config.database, options.to].map(describeDatabaseUrl)
  if (sqlitePath(config.database) === undefined)
    throw new UsageError(`${from} is not an SQLite database: use backup and restore`)
  if (!/^postgres(ql)?:\/\//.test(options.to))
    throw new UsageError('--to must look like postgresql://USER@HOST:PORT/NAME')
  const { tallies, violations } = await replaceStore(options.to, async (target) => {
    if ((await tablesIn(target, target.db)).length > 0)
      throw new StoreError('not_empty', `${to} has tables already: name an empty database`)
    const isUnchanged = (before: Tallies): Promise<void> =>
      lookAtStore(config, async (store) => {
        const change = whyUnequal(before, await tallyAll(store.db))
        if (change !== undefined)
          throw new FailureError(`${from} was changed meanwhile (${change}): stop what changes it`)
      })
    return lookAtStore(config, async (source) => {
      const before = await refuseWhileServing(source, config.ledger)
      return atOneMoment(source, async (tx) => {
        await before(tx)
        return copy({ source, tx, target, isUnchanged })
      })
    })
  })
  const rows = totalRows(tallies)
  if (options.json) printJson({ from, to, rows, violations })
  else
    printText(
      `Moved ${rows} rows from ${from} to ${to}: their numbers, their sums to the nano-dollar and the checks of the books are the same in both.`,
    )
  if (violations.length > 0) printWarning(violationsText(violations))
  printNote(
    `${from} was left as it is: from now on serve with TOLLGATE_DATABASE=${to} and the same TOLLGATE_SECRET`,
  )
}

type Copy = {
  readonly source: Store
  readonly tx: Tx
  readonly target: Store
  readonly isUnchanged: (tallies: Tallies) => Promise<void>
}

type Moved = { readonly tallies: Tallies; readonly violations: readonly Violation[] }

async function copy({ source, tx, target, isUnchanged }: Copy): Promise<Moved> {
  const tallies = await tallyAll(tx)
  const violations = await verifyLedger({ ...source, db: tx })
  await withProgress({ what: 'Moving', total: totalRows(tallies) }, (advance) =>
    replaceRows(target, {
      tallies,
      pages: readAll(tx, advance),
      before: async () => {},
      after: async (there) => {
        const found = await verifyLedger({ ...target, db: there })
        if (textOf(found) !== textOf(violations))
          throw new Error(`the books are not what they were: ${violationsText(found)}`)
        await isUnchanged(tallies)
      },
    }),
  )
  return { tallies, violations }
}

/** The databases find them in different orders. */
function textOf(violations: readonly Violation[]): string {
  return violations
    .map((each) => JSON.stringify(each))
    .toSorted()
    .join('\n')
}

type MigrateOptions = CommonOptions & { readonly dryRun?: true }

export function addMigrate(program: Command): void {
  common(program.command('migrate'))
    .description(
      'Bring the database to the schema of this version, as starting it does: in one transaction, or not at all. ' +
        'Make a backup first.',
    )
    .option('--dry-run', 'only show what would change')
    .addHelpText(...examples('tollgate migrate --dry-run', 'tollgate migrate'))
    .action(migrate)
}

async function migrate(options: MigrateOptions): Promise<void> {
  const config = readDatabaseConfig(options)
  const plan = await inspectStore(config, ({ db, kind }) => planMigration(db, kind))
  // Opening it to change something migrates it.
  if (!options.dryRun && plan.statements.length > 0) await withStore(config, async () => {})
  if (options.json) printJson(planJson(plan, options))
  else printText(planText(plan, describeDatabaseUrl(config.database), options))
}

function planJson({ from, to, isTakeover, statements }: Plan, { dryRun }: MigrateOptions) {
  return { from, to, rewrites_tables: isTakeover, statements, done: !dryRun }
}

function planText(
  { from, to, isTakeover, statements }: Plan,
  address: string,
  { dryRun }: MigrateOptions,
): string {
  if (statements.length === 0) return `${address} has schema ${from}: nothing to change.`
  if (!dryRun) return `${address} had schema ${from} and has ${to} now.`
  const what =
    from === null
      ? `${address} has no tables of Tollgate. The first start, at schema ${to}, would run:`
      : `${address} has schema ${from}. To bring it to ${to}, this would run, in one transaction:`
  const copied = 'Stop all nodes first: every table is made anew, and its rows are copied into it.'
  return [what, ...(isTakeover ? [copied] : []), '', ...statements.map((each) => `${each};`)].join(
    '\n',
  )
}
