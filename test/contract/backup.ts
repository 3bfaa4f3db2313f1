// What a backup promises on either database: every row comes back as it was, on the same kind of database or the other;
// what is no whole backup is refused; what fails leaves everything as it was. Run by test/contract/backup.test.ts.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import {
  readBackup,
  readHead,
  type Head,
  writeBackup,
  writeLines,
} from '../../src/store/backup/file.ts'
import { readAll, TABLE_NAMES, tallyAll, type Page, type Row } from '../../src/store/backup/rows.ts'
import { atOneMoment, refuseForeign, replaceRows } from '../../src/store/backup/transaction.ts'
import { planMigration } from '../../src/store/database/migrate.ts'
import { SCHEMA } from '../../src/store/database/migrations.ts'
import type { Store } from '../../src/store/database/store.ts'
import type { Queries } from '../../src/store/database/tables.ts'
import { openStore, type Purpose } from '../../src/store/open.ts'
import { refusal, type FreshDatabase } from '../support/store.ts'
import { load } from './takeover.ts'

type Kind = Store['kind']

export function backupContract(kind: Kind, databases: Readonly<Record<Kind, FreshDatabase>>): void {
  const dump = readFileSync(new URL(`../fixtures/977cfc19/${kind}.sql`, import.meta.url), 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  const file = join(folder, 'whole.backup')
  let database: Awaited<ReturnType<FreshDatabase>>
  let rows: Contents

  before(async () => {
    database = await databases[kind]()
    // Months of all kinds of rows, people and stored responses among them.
    await load(database.url, dump)
    await using store = await opened(database.url, 'create')
    // More than a number holds exactly, and more than an integer of SQLite when it is added up.
    const most = sql.lit(2n ** 63n - 1n)
    await sql`UPDATE accounts SET limit_nanodollars = ${most} WHERE id <> 'frame'`.execute(store.db)
    await using looking = await opened(database.url, 'look')
    rows = await contents(looking.db)
    await backUp(looking, file)
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })

  test('a backup is for its user alone, and says what is in it', async () => {
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const { database: of, tollgate, tallies } = await readHead(file)
    assert.deepEqual({ of, tollgate }, { of: kind, tollgate: '1.2.3' })
    for (const table of TABLE_NAMES) assert.equal(tallies[table].rows, rows[table]?.length)
    assert.ok(Object.values(tallies).filter(({ rows: count }) => count > 0).length > 20)
  })

  for (const to of ['sqlite', 'postgres'] as const)
    test(`every row comes back as it was, to ${to}, whatever was there`, async () => {
      const target = await databases[to]()
      {
        await using store = await opened(target.url, 'create')
        await sql`INSERT INTO prices VALUES ('in the way', '{}')`.execute(store.db)
      }
      {
        await using store = await opened(target.url, 'replace')
        await restore(store, file)
      }
      await using store = await opened(target.url, 'change')
      assert.deepEqual(await contents(store.db), rows)
      assert.deepEqual(await verifyLedger(store), await verified(database.url))
      await store.close()
      await target.drop()
    })

  test('a backup shows one moment, and keeps no writer waiting', async () => {
    await using looking = await opened(database.url, 'look')
    await using writing = await opened(database.url, 'change')
    await atOneMoment(looking, async (tx) => {
      const first = await tallyAll(tx)
      await sql`INSERT INTO prices VALUES ('later', '{}')`.execute(writing.db)
      assert.deepEqual(await tallyAll(tx), first)
    })
    await sql`DELETE FROM prices WHERE version = 'later'`.execute(writing.db)
  })

  test('what fails in the middle leaves everything as it was', async () => {
    const { tallies } = await readHead(file)
    const fail = async (): Promise<void> => assert.fail('on purpose')
    const nothing = async (): Promise<void> => {}
    async function* broken(): AsyncGenerator<Page> {
      for await (const page of readBackup(file)) {
        yield page
        if (page.table === 'usage') assert.fail('on purpose')
      }
    }
    const less = { ...tallies, usage: { ...tallies.usage, rows: tallies.usage.rows - 1 } }
    const whole = { pages: readBackup(file), tallies, before: nothing, after: nothing }
    for (const [what, expected] of [
      [{ ...whole, before: fail }, /on purpose/],
      [{ ...whole, pages: broken() }, /on purpose/],
      [{ ...whole, pages: readBackup(file), after: fail }, /on purpose/],
      [{ ...whole, pages: readBackup(file), tallies: less }, /usage has \d+ rows and not \d+/],
    ] as const) {
      await using store = await opened(database.url, 'replace')
      await assert.rejects(replaceRows(store, what), expected)
    }
    await using store = await opened(database.url, 'change')
    assert.deepEqual(await contents(store.db), rows)
  })

  test('tables of others are never dropped', async () => {
    const target = await databases[kind]()
    {
      await using store = await opened(target.url, 'replace')
      await refuseForeign(store, 'here')
      await sql`CREATE TABLE theirs (id INTEGER)`.execute(store.db)
      const refused = refusal(
        'not_empty',
        /^here has tables .* \(theirs\): name an empty database$/,
      )
      await assert.rejects(refuseForeign(store, 'here'), refused)
    }
    await target.drop()
  })

  test('a migration can be seen before it is made', async () => {
    const target = await databases[kind]()
    {
      await using store = await opened(target.url, 'replace')
      const created = await planMigration(store.db, kind)
      assert.equal(created.from, null)
      assert.ok(created.statements.some((each) => each.startsWith('CREATE TABLE usage')))
    }
    {
      await using store = await opened(target.url, 'create')
      assert.deepEqual((await planMigration(store.db, kind)).statements, [])
      const { major, minor } = SCHEMA
      const step = { major, minor: minor + 1, statements: ['CREATE TABLE more (id INTEGER)'] }
      const plan = await planMigration(store.db, kind, { ...SCHEMA, ...step, steps: [step] })
      assert.deepEqual(
        { from: plan.from, to: plan.to, count: plan.statements.length },
        { from: `${major}.${minor}`, to: `${major}.${minor + 1}`, count: 1 },
      )
      assert.deepEqual((await planMigration(store.db, kind)).statements, [])
    }
    await target.drop()
  })

  describe('refuses', () => {
    const other = join(folder, 'other.backup')
    const read = async (bytes: Uint8Array): Promise<void> => {
      writeFileSync(other, bytes)
      await readHead(other)
      for await (const _ of readBackup(other));
    }
    const refused = (message: RegExp) => refusal('unusable_backup', message)

    test('a file that was cut off anywhere', async () => {
      const bytes = readFileSync(file)
      for (const length of [10, 1_000, bytes.length >> 1, bytes.length - 9, bytes.length - 1])
        await assert.rejects(read(bytes.subarray(0, length)), refused(/cut off|empty|damaged/))
      const lines = gunzipSync(bytes).toString().split('\n')
      for (const count of [1, 2, lines.length - 2])
        await assert.rejects(
          read(gzipSync(`${lines.slice(0, count).join('\n')}\n`)),
          refused(/is cut off: its end is missing$/),
        )
    })

    test('a file with other bytes', async () => {
      const bytes = readFileSync(file)
      for (const at of [50, bytes.length >> 2, bytes.length >> 1, bytes.length - 20]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 0x10
        await assert.rejects(read(changed), refused(/is damaged|is cut off|is not a backup/))
      }
      const text = gunzipSync(bytes).toString()
      assert.ok(text.includes('"settled"'))
      for (const changed of [
        text.replace('"settled"', '"voided"'),
        text.replace(/\n\{"table":"usage".*\n/, '\n'),
        text.replace(/"rows":\d+/, '"rows":7'),
        text.replace('"table":"usage"', '"table":"users"'),
        text + text.slice(text.indexOf('\n{"table"') + 1),
      ])
        await assert.rejects(read(gzipSync(changed)), refused(/is damaged/))
    })

    test('a backup of another version, and what is none', async () => {
      const text = gunzipSync(readFileSync(file)).toString()
      for (const changed of [
        text.replace('"version":1', '"version":2'),
        text.replace(/"schema":"[\d.]+"/, '"schema":"9.7"'),
        text.replace('"model_asked"', '"model_wanted"'),
      ])
        await assert.rejects(
          read(gzipSync(changed)),
          refused(/was made by Tollgate 1\.2\.3 .*: restore it with the Tollgate that made it/),
        )
      await assert.rejects(read(gzipSync('{"some":"json"}\n')), refused(/is not a backup/))
      await assert.rejects(read(Buffer.from('some text\n')), refused(/is damaged|is not a backup/))
      await assert.rejects(read(Buffer.alloc(0)), refused(/is empty|is cut off/))
    })

    test('a name that is taken, a folder that does not exist, and leaves nothing there', async () => {
      await using looking = await opened(database.url, 'look')
      const names = readdirSync(folder)
      await assert.rejects(backUp(looking, file), refusal('backup_file', /exists: name a file/))
      const nowhere = join(folder, 'nowhere', 'file')
      await assert.rejects(backUp(looking, nowhere), refusal('backup_file', /no such file/))
      await assert.rejects(
        backUp(looking, join(folder, 'aborted'), AbortSignal.abort()),
        refusal('backup_file', /^interrupted: there is no backup$/),
      )
      assert.deepEqual(readdirSync(folder), names)
    })
  })
}

type Contents = Readonly<Record<string, readonly Row[]>>

async function contents(db: Queries): Promise<Contents> {
  const found: Record<string, Row[]> = Object.fromEntries(TABLE_NAMES.map((table) => [table, []]))
  for await (const { table, rows } of readAll(db, () => {}))
    found[table]?.push(...rows.map((row) => row.map(comparable)))
  return found
}

function comparable(value: Row[number]): Row[number] {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

async function verified(url: string): Promise<unknown> {
  await using store = await opened(url, 'look')
  return await verifyLedger(store)
}

async function backUp(
  store: Store,
  file: string,
  signal = new AbortController().signal,
): Promise<void> {
  await atOneMoment(store, async (tx) => {
    const head: Head = {
      tollgate: '1.2.3',
      database: store.kind,
      takenAt: systemClock.now(),
      tallies: await tallyAll(tx),
    }
    await writeBackup(
      file,
      writeLines(
        head,
        readAll(tx, () => {}),
      ),
      signal,
    )
  })
}

async function restore(store: Store, file: string): Promise<void> {
  const { tallies } = await readHead(file)
  const nothing = async (): Promise<void> => {}
  await replaceRows(store, { pages: readBackup(file), tallies, before: nothing, after: nothing })
}

type Opened = Store & AsyncDisposable

async function opened(url: string, purpose: Purpose): Promise<Opened> {
  const store = await openStore(url, { clock: systemClock, purpose })
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await store.close()
    isOpen = false
  }
  return { ...store, close, [Symbol.asyncDispose]: close }
}
