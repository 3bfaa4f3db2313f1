// What the doctor says about the disk and the secret of a machine, and that it changes neither.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connections, disk, secret } from './machine.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'))
after(() => rmSync(folder, { recursive: true }))
const sqlite = {
  secret: null,
  database: `sqlite:${join(folder, 'tollgate.db')}`,
  dataFolder: folder,
}

test('a disk with little room left is wrong, however large it is', () => {
  const room = { freeBytes: 0.9e9, totalBytes: 4000e9 }
  const { outcome, found, todo } = disk(sqlite, room)
  assert.deepEqual([outcome, found], ['wrong', `0.9 GB of 4000.0 GB are free in ${folder}`])
  assert.match(String(todo), /^make room: /)
  assert.equal(disk(sqlite, { freeBytes: 1e9, totalBytes: 2e9 }).outcome, 'ok')
})

test('connections need files: two for each', () => {
  const server = { connectionsMax: 5_000 }
  const limits = (most: string): string =>
    `Limit  Soft  Hard  Units\nMax open files            1024                 ${most}              files\n`
  assert.equal(connections({ server }, limits('10000')).outcome, 'ok')
  assert.equal(connections({ server }, limits('unlimited')).outcome, 'ok')
  const { outcome, found, todo } = connections({ server }, limits('9999'))
  assert.deepEqual(
    [outcome, found],
    ['wrong', '5000 at most, but no more than 9999 files may be open'],
  )
  assert.match(String(todo), /LimitNOFILE=/)
})

test('a folder that is made by the first start is judged by the one around it', () => {
  const dataFolder = join(folder, 'not', 'yet')
  assert.match(disk({ dataFolder }).found, new RegExp(`are free in ${folder}$`))
  assert.ok(!existsSync(dataFolder))
})

test('the secret of SQLite is its own file, which nobody else may read; none is made', () => {
  assert.match(secret(sqlite).found, /^none yet: the first start writes /)
  const file = join(folder, 'secret')
  assert.ok(!existsSync(file))
  writeFileSync(file, 'a secret of enough letters\n', { mode: 0o600 })
  assert.equal(secret(sqlite).outcome, 'ok')
  chmodSync(file, 0o644)
  assert.deepEqual(secret(sqlite), {
    check: 'secret',
    outcome: 'wrong',
    found: `${file} can be read by others`,
    todo: `chmod 600 ${file}`,
  })
})

test('PostgreSQL needs a secret from the environment', () => {
  const postgres = { ...sqlite, database: 'postgres://db/tollgate' }
  assert.match(
    String(secret(postgres).todo),
    /^TOLLGATE_SECRET is required with PostgreSQL, .*`openssl rand/,
  )
  assert.equal(secret({ ...postgres, secret: 'x'.repeat(15) }).outcome, 'wrong')
  assert.equal(secret({ ...postgres, secret: 'x'.repeat(16) }).outcome, 'ok')
})
