// `tollgate backup`, `restore`, `move` and `migrate` as an operator uses them, on both databases: under load, with
// servers that run, full disks and kills in the middle. Books of 10,000 requests; `npm run drill -- move` takes a million.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { systemClock } from '../../../src/core/clock.ts'
import { verifyLedger } from '../../../src/ledger/reports/verify.ts'
import { tallyAll, type Tallies } from '../../../src/store/backup/rows.ts'
import { sqlitePath } from '../../../src/store/database/url.ts'
import { openStore } from '../../../src/store/open.ts'
import { faultyDisk, noFaultyDisk } from '../../support/disk-faults.ts'
import { COMMAND } from '../../support/gateway.ts'
import { freshDatabase } from '../../support/postgres/postgres.ts'
import { bareEnv, run, start, type Ended, type Running } from '../../support/process.ts'
import { freshSqlite, type FreshDatabase } from '../../support/store.ts'
import { makeRequests, openBooks } from '../../support/traffic.ts'
import { until } from '../../support/until.ts'

const ROWS = 10_000
const KEYS = 20

const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
after(() => rmSync(folder, { recursive: true }))

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const)
  describe(`backup and restore on ${name}`, () => {
    let source: Awaited<ReturnType<FreshDatabase>>
    const file = join(folder, `${name}.backup`)
    before(async () => {
      source = await fresh()
    })
    after(() => source.drop())

    test('a backup under load is of one moment, and comes back elsewhere as it was', async (t) => {
      const target = await fresh()
      {
        await using books = await openBooks(source.url, KEYS)
        await makeRequests(books, (made) => made < ROWS / 2)
        let isOver = false
        const load = makeRequests(books, (made) => made < ROWS / 2 || !isOver)
        const { stdout, stderr } = await succeeds(['backup', file, '--json'], source.url)
        isOver = true
        await load
        assert.match(stderr, /does not contain TOLLGATE_SECRET/)
        assert.match(stderr, /forget what is spent from now on/)
        t.diagnostic(stdout.replaceAll(/\s+/g, ' '))
        await refuses(['restore', file, '--yes'], {
          url: source.url,
          code: 1,
          says: /servers work on this database \(process \d+ on \S+\): stop them/,
        })
      }
      const restored = await succeeds(['restore', file, '--yes'], target.url)
      assert.match(restored.stdout, /^Restored \d+ rows to /)
      assert.match(restored.stderr, /what was spent since the backup is forgotten/)
      await succeeds(['ledger', 'verify'], target.url)
      const [there, here] = [await usageOf(target.url), await usageOf(source.url)]
      assert.ok(there.size >= ROWS / 2 && there.size <= here.size)
      let spent = 0n
      for (const [id, cost] of there) {
        assert.equal(here.get(id), cost)
        spent += cost
      }
      assert.equal((await figures(target.url)).frameSpent, spent)
      await target.drop()
    })

    test('restores nothing unless it is told to', async () => {
      const wanted = { url: source.url, code: 2, says: /no terminal to ask at: add --yes/ }
      await refuses(['restore', file], wanted)
    })

    test('refuses a file that is cut off, or none', async () => {
      const target = await fresh()
      const cut = join(folder, `${name}.cut`)
      writeFileSync(cut, 'not a backup')
      for (const [given, says] of [
        [cut, /is damaged/],
        [join(folder, 'missing'), /no such file/],
        [folder, /is a folder/],
      ] as const)
        await refuses(['restore', given, '--yes'], { url: target.url, code: 1, says })
      await refuses(['backup', file], { url: source.url, code: 1, says: /exists: name a file/ })
      await target.drop()
    })

    test('a restore that is killed in the middle leaves everything as it was', async () => {
      const before = await figures(source.url)
      {
        await using books = await openBooks(source.url, 0)
        await makeRequests({ ...books, keyIds: [await anyKey(books.store.db)] }, (made) => made < 5)
      }
      const later = await figures(source.url)
      assert.notDeepEqual(later.tallies.usage, before.tallies.usage)
      const file_ = sqlitePath(source.url)
      if (file_ === undefined) await killBehindLock(source.url, file)
      else {
        const restore = start(
          process.execPath,
          [COMMAND, 'restore', file, '--yes'],
          env(source.url),
        )
        // Half of it is written by then, and nothing is committed.
        await until(() => sizeOf(`${file_}-wal`) > 500_000)
        await restore.stop('SIGKILL')
      }
      assert.deepEqual(await figures(source.url), later)
      await succeeds(['restore', file, '--yes'], source.url)
      assert.notDeepEqual((await figures(source.url)).tallies.usage, later.tallies.usage)
      await succeeds(['ledger', 'verify'], source.url)
    })

    test(
      'a full disk, or a kill, leaves nothing that looks like a backup',
      {
        skip: noFaultyDisk ?? false,
      },
      async () => {
        const here = mkdtempSync(join(folder, 'disk-'))
        const scratch = mkdtempSync(join(tmpdir(), 'tollgate-faults-'))
        const disk = faultyDisk({ folder: here, scratch, slowMs: 60_000 })
        const wanted = join(here, 'wanted.backup')
        disk.fill()
        const full = await run(process.execPath, [COMMAND, 'backup', wanted], {
          env: { ...env(source.url).env, ...disk.env },
        })
        assert.deepEqual({ code: full.code, left: readdirSync(here) }, { code: 1, left: [] })
        assert.match(full.stderr, /^tollgate: .*wanted\.backup cannot be written: its disk is full/)
        disk.free()
        disk.slow()
        const killed = start(process.execPath, [COMMAND, 'backup', wanted], {
          env: { ...env(source.url).env, ...disk.env },
        })
        // It is whole by then, and being synced.
        await until(() => readdirSync(here).some((each) => each.endsWith('.partial')))
        await killed.stop('SIGKILL')
        assert.deepEqual(
          readdirSync(here).filter((each) => !each.endsWith('.partial')),
          [],
        )
        rmSync(scratch, { recursive: true })
      },
    )

    test('a migration that there is no need for says so', async () => {
      const { stdout } = await succeeds(['migrate', '--dry-run', '--json'], source.url)
      assert.partialDeepStrictEqual(JSON.parse(stdout), { statements: [], done: false })
      assert.match((await succeeds(['migrate'], source.url)).stdout, /nothing to change/)
    })
  })

test('10,000 requests move from SQLite to PostgreSQL, to the nano-dollar', async () => {
  const [source, target] = [await freshSqlite(), await freshDatabase()]
  {
    await using books = await openBooks(source.url, KEYS)
    await makeRequests(books, (made) => made < ROWS)
    await refuses(['move', '--to', target.url], {
      url: source.url,
      code: 1,
      says: /servers work on this database/,
    })
  }
  const { stdout, stderr } = await succeeds(['move', '--to', target.url], source.url)
  assert.match(stdout, /^Moved \d+ rows from .*: .* are the same in both\.$/m)
  assert.match(stderr, /from now on serve with TOLLGATE_DATABASE=postgres:/)
  assert.deepEqual(await figures(target.url), await figures(source.url))
  assert.deepEqual(await usageOf(target.url), await usageOf(source.url))
  await succeeds(['ledger', 'verify', '--quiescent'], target.url)
  for (const [to, url, code, says] of [
    [target.url, source.url, 1, /has tables already: name an empty database/],
    [source.url, source.url, 2, /--to must look like postgresql:/],
    [target.url, target.url, 2, /is not an SQLite database: use backup and restore/],
  ] as const)
    await refuses(['move', '--to', to], { url, code, says })
  await source.drop()
  await target.drop()
})

type Figures = {
  readonly tallies: Tallies
  readonly frameSpent: bigint
  readonly violations: readonly unknown[]
}

async function figures(url: string): Promise<Figures> {
  const store = await openStore(url, { clock: systemClock, purpose: 'look' })
  try {
    const { spent_nanodollars: frameSpent } = await store.db
      .selectFrom('accounts')
      .select('spent_nanodollars')
      .where('id', '=', 'frame')
      .executeTakeFirstOrThrow()
    const violations = await verifyLedger(store)
    return { tallies: await tallyAll(store.db), frameSpent, violations }
  } finally {
    await store.close()
  }
}

/** What each request cost. */
async function usageOf(url: string): Promise<ReadonlyMap<number, bigint>> {
  const store = await openStore(url, { clock: systemClock, purpose: 'look' })
  try {
    const rows = await store.db.selectFrom('usage').select(['id', 'cost_nanodollars']).execute()
    return new Map(rows.map((row) => [row.id, row.cost_nanodollars]))
  } finally {
    await store.close()
  }
}

/** The last table to be dropped is locked, so the restore has dropped all others when it waits. */
async function killBehindLock(url: string, file: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE meta IN ACCESS SHARE MODE')
  const restore: Running = start(process.execPath, [COMMAND, 'restore', file, '--yes'], env(url))
  const waiting =
    "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'meta'::regclass"
  await until(async () => Number((await client.query<{ n: string }>(waiting)).rows[0]?.n) > 0)
  await restore.stop('SIGKILL')
  await client.query('ROLLBACK')
  await client.end()
}

async function anyKey(db: Awaited<ReturnType<typeof openStore>>['db']): Promise<string> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM keys LIMIT 1`.execute(db)
  return rows[0]?.id ?? ''
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function env(url: string): { readonly env: NodeJS.ProcessEnv; readonly cwd: string } {
  return { env: { ...bareEnv, TOLLGATE_DATABASE: url }, cwd: folder }
}

async function succeeds(words: readonly string[], url: string): Promise<Ended> {
  const ended = await run(process.execPath, [COMMAND, ...words], env(url))
  assert.equal(ended.code, 0, ended.stderr + ended.stdout)
  return ended
}

async function refuses(
  words: readonly string[],
  { url, code, says }: { readonly url: string; readonly code: number; readonly says: RegExp },
): Promise<void> {
  const ended = await run(process.execPath, [COMMAND, ...words], env(url))
  assert.match(ended.stderr, says)
  assert.equal(ended.code, code)
  assert.equal(ended.stdout, '')
}
