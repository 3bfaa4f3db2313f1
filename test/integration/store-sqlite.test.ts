// Faults of SQLite alone: files that cannot be opened, locks of other processes, handlers in its thread.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemClock } from '../../src/core/clock.ts'
import { SqliteRunner } from '../../src/ledger/sqlite/runner.ts'
import { Unavailable } from '../../src/ledger/writer/writer.ts'
import { readRevision } from '../../src/store/database/revision.ts'
import type { SqliteStore } from '../../src/store/database/store.ts'
import { readFrame, seedFrame, setFrame } from '../../src/store/frame.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { refusal } from '../support/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'))
after(() => rmSync(folder, { recursive: true }))

const threadModules = [new URL('../support/programs/store-handlers.ts', import.meta.url)]
const options = { clock: systemClock, threadModules }

describe('opening a file', () => {
  test('creates the file and its folder', async () => {
    const store = await open('new/folder/tollgate.db')
    assert.equal((await readFrame(store)).period, 'month')
    await store.close()
  })

  test('lets nobody else into a new folder, and leaves the mode of an existing one', async () => {
    const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777
    await (await open('own/data/tollgate.db')).close()
    mkdirSync(join(folder, 'shared'))
    chmodSync(join(folder, 'shared'), 0o755)
    await (await open('shared/tollgate.db')).close()
    assert.deepEqual(['own/data', 'shared'].map(modeOf), [0o700, 0o755])
  })

  for (const [url, code, message] of [
    ['mysql://localhost/x', 'invalid_url', /must be sqlite:PATH or postgres:/],
    ['tollgate.db', 'invalid_url', /must be sqlite:PATH or postgres:/],
    ['sqlite:', 'invalid_url', /needs a path/],
    [`sqlite:${folder}/text.db`, 'not_a_database', /text\.db is not a usable SQLite database/],
    [`sqlite:${folder}/short.db`, 'not_a_database', /short\.db is not a usable SQLite database/],
    [`sqlite:${folder}/a-folder`, 'unreachable', /a-folder cannot be opened/],
    [`sqlite:${folder}/text.db/x.db`, 'unreachable', /x\.db cannot be opened/],
    // Nobody can create a folder here, and Node's recursive mkdir would retry forever.
    ['sqlite:/proc/none/x.db', 'unreachable', /x\.db cannot be opened/],
  ] as const) {
    test(`${url.replace(folder, '')}: ${code}`, async () => {
      writeFileSync(
        join(folder, 'text.db'),
        'no database, only text that is longer than a header\n'.repeat(99),
      )
      writeFileSync(join(folder, 'short.db'), 'short')
      mkdirSync(join(folder, 'a-folder'), { recursive: true })
      await assert.rejects(openStore(url, options), refusal(code, message))
    })
  }

  test('fails if it cannot be written, whether old or new', async (t) => {
    const place = join(folder, 'read-only')
    await (await open('read-only/old.db')).close()
    chmodSync(join(place, 'old.db'), 0o444)
    chmodSync(place, 0o555)
    const old = await openElsewhere(`sqlite:${join(place, 'old.db')}`)
    const fresh = await openElsewhere(`sqlite:${join(place, 'new.db')}`)
    chmodSync(place, 0o755)
    if (old === undefined)
      return t.skip('root may write any file, and there is no setpriv here to take that from it')
    assert.match(old, /^read_only .*old\.db cannot be written: /)
    assert.match(fresh ?? '', /^read_only .*new\.db cannot be written: .* its folder/)
  })
})

describe('handlers in the thread', () => {
  test('run in one transaction', async () => {
    const store = await open('handlers.db')
    assert.deepEqual(await store.inThread('test.setRpm', 7), { rpm: 7n })
    await assert.rejects(store.inThread('test.setRpm', 101), /rpm is too high/)
    assert.equal((await readFrame(store)).rpm, 7)
    await assert.rejects(store.inThread('test.unsendable', 1), /cannot leave the SQLite thread/)
    await assert.rejects(
      store.inThread('test.none', 1),
      /no thread module has a handler "test.none"/,
    )
    await store.close()
  })

  test('wait for the open transaction of another caller', async () => {
    const store = await open('waiting.db')
    const order: string[] = []
    const inside = Promise.withResolvers<void>()
    const handled = inside.promise
      .then(() => store.inThread('test.setRpm', 7))
      .then(() => order.push('handler'))
    await store.db.transaction().execute(async (tx) => {
      await tx.updateTable('accounts').set({ tpm: 1 }).execute()
      inside.resolve()
      await tx.updateTable('accounts').set({ tpm: 2 }).execute()
      order.push('transaction')
    })
    await handled
    assert.deepEqual(order, ['transaction', 'handler'])
    const { rpm, tpm } = await readFrame(store)
    assert.deepEqual({ rpm, tpm }, { rpm: 7, tpm: 2 })
    await store.close()
  })
})

describe('locks', () => {
  test("another process's lock stops the write, not this thread", async () => {
    const store = await open('locked.db')
    const other = new DatabaseSync(join(folder, 'locked.db'))
    other.exec('BEGIN IMMEDIATE')
    let isWritten = false
    const written = setFrame(store, { limitNanodollars: 5n }).then(() => (isWritten = true))
    for (let tick = 0; tick < 20; tick++) await sleep(1)
    assert.equal(isWritten, false)
    other.exec('COMMIT')
    await written
    assert.equal((await readFrame(store)).limitNanodollars, 5n)
    other.close()
    await store.close()
  })

  test('two busy processes both make progress', async () => {
    const stores = [await open('shared.db'), await open('shared.db')]
    await Promise.all(
      stores.map(async (store) => {
        for (let count = 0; count < 50; count++) await setFrame(store, {})
      }),
    )
    for (const store of stores) {
      assert.equal(await readRevision(store), 100)
      await store.close()
    }
  })

  test('no other program can lock a file that this process has opened twice', async () => {
    const stores = [await open('twice.db'), await open('twice.db')]
    const alone = `
      const db = new (require('node:sqlite').DatabaseSync)(process.argv[1])
      db.exec('PRAGMA locking_mode = EXCLUSIVE')
      db.exec('SELECT * FROM meta')`
    const other = promisify(execFile)(process.execPath, ['-e', alone, join(folder, 'twice.db')])
    await assert.rejects(other, /database is locked/)
    for (const store of stores) await store.close()
  })
})

describe('the thread', () => {
  test('a transaction that waits for something queued behind it is rolled back', async (t) => {
    const store = await open('stuck.db')
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const inside = Promise.withResolvers<void>()
    const stuck = store.db.transaction().execute(async (tx) => {
      await tx.updateTable('accounts').set({ rpm: 7 }).execute()
      inside.resolve()
      // Deliberately not through tx: it waits for this transaction to end.
      await readFrame(store)
      await tx.updateTable('accounts').set({ rpm: 8 }).execute()
    })
    await inside.promise
    t.mock.timers.tick(10_000)
    await assert.rejects(stuck, /rolled back: it said nothing for too long/)
    assert.equal((await readFrame(store)).rpm, null)
    await store.close()
  })

  test('a store that nobody closes does not keep the process alive', async () => {
    const stdout = await openElsewhere(`sqlite:${join(folder, 'left-open.db')}`)
    assert.equal(stdout, 'opened\n')
  })

  test('a call that cannot be sent takes no other call’s answer', async () => {
    const store = await open('unsent.db')
    const unsendable = store.inThread('test.setRpm', () => 7)
    const answered = store.inThread('test.setRpm', 8)
    await assert.rejects(unsendable, /could not be cloned/)
    assert.deepEqual(await answered, { rpm: 8n })
    await store.close()
  })

  test('a thread that dies is reported once, and every later call fails', async () => {
    const reported: string[] = []
    const onLost = (why: Error) => reported.push(why.message)
    const url = `sqlite:${join(folder, 'dying.db')}`
    const store = (await openStore(url, { ...options, onLost })) as SqliteStore
    const dying = [store.inThread('test.die', null), readFrame(store)]
    for (const question of dying) await assert.rejects(question, /has ended: exit code 3/)
    await assert.rejects(readFrame(store), /has ended: exit code 3/)
    await store.close()
    assert.deepEqual(reported, ['the SQLite thread has ended: exit code 3'])
  })

  test('a batch whose thread dies is an outage, and one that throws is not', async () => {
    const store = await open('outage.db')
    const batch = { nodeId: 1, items: [], prices: [], isRetry: false }
    await assert.rejects(new SqliteRunner(store).run(batch), /no thread module has a handler/)
    const dying = assert.rejects(store.inThread('test.die', null))
    await assert.rejects(new SqliteRunner(store).run(batch), Unavailable)
    await dying
    await assert.rejects(new SqliteRunner(store).run(batch), Unavailable)
  })

  test('a closed store refuses calls and says so', async () => {
    const store = await open('closed.db')
    await store.close()
    await assert.rejects(store.inThread('test.setRpm', 1), /the SQLite thread has ended/)
  })
})

async function open(file: string): Promise<SqliteStore> {
  const store = await openStore(`sqlite:${join(folder, file)}`, options)
  assert.equal(store.kind, 'sqlite')
  await seedFrame(store, SAMPLE_FRAME)
  return store as SqliteStore
}

/** What another process prints when it opens this database; it runs without root's power to write any file. */
async function openElsewhere(url: string): Promise<string | undefined> {
  const script = new URL('../support/programs/open-store.ts', import.meta.url).pathname
  const command = [process.execPath, script, url]
  if (process.getuid?.() === 0) command.unshift('setpriv', '--bounding-set=-dac_override')
  const [file = '', ...rest] = command
  try {
    return (await promisify(execFile)(file, rest)).stdout
  } catch {
    return undefined
  }
}
