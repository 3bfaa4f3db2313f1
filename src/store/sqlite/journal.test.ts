// The file of a journal: what is read is what was written, whole and in order, or is not there.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  ChangeCounter,
  Journal,
  JOURNAL_START,
  journalPath,
  journalsBeside,
  JournalReader,
  JournalTeller,
  removeJournal,
  type JournalPosition,
} from './journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

async function create(nodeId = 7) {
  const database = join(folder, `${++files}.db`)
  // As it is beside a database that is open.
  writeFileSync(database, '', { mode: 0o600 })
  writeFileSync(`${database}-shm`, Buffer.alloc(136))
  const journal = await Journal.create(database, nodeId)
  const teller = new JournalTeller(nodeId, journal.state.memory, new ChangeCounter(database))
  const fold = (foldedSeq = journal.next.seq): void => {
    teller.beginCommit({ isUsable: true, foldedSeq })
    teller.committed()
  }
  fold()
  const path = journalPath(database, nodeId)
  const reader = JournalReader.open(path, nodeId)
  assert.ok(reader)
  return { journal, reader, path, fold }
}

/** One by one, and as many at a time as there are. */
function readAll(reader: JournalReader, from: JournalPosition = JOURNAL_START): string[] {
  const texts: string[] = []
  for (let found = reader.next(from); found !== undefined; found = reader.next(found.next))
    texts.push(found.text)
  assert.deepEqual(
    reader.all(from).map(({ text }) => text),
    texts,
  )
  return texts
}

test('records are read in the order in which they were written, by others as well', async () => {
  const { journal, reader, path } = await create()
  const many = Array.from({ length: 300 }, (_, index) => `${index} `.repeat(100))
  const texts = ['one', 'a longer one, with \u{1F9FE}', '', 'x'.repeat(300_000), ...many]
  for (const text of texts) await journal.append(text)
  assert.deepEqual(readAll(reader), texts)
  assert.deepEqual(journal.next.seq, 305)
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a record of which a byte is wrong or missing is not there, nor is anything behind it', async () => {
  const { journal, path } = await create()
  const ends: number[] = [0]
  for (const text of ['first', 'second', 'third']) {
    await journal.append(text)
    ends.push(journal.next.offset)
  }
  const [, start = 0, end = 0] = ends
  const sound = readFileSync(path)
  for (let at = start; at < end; at++) {
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.of((sound[at] ?? 0) ^ 0x10), 0, 1, at)
    const reader = JournalReader.open(path, 7)
    assert.ok(reader)
    assert.deepEqual(readAll(reader), ['first'], `byte ${at}`)
    reader.close()
    writeSync(file, sound, at, 1, at)
    closeSync(file)
  }
})

test('it begins again at the front, but only when what was there is in the database', async () => {
  const { journal, reader, fold } = await create()
  const large = 'y'.repeat(3_000_000)
  await journal.append(`1${large}`)
  await journal.append(`2${large}`)
  const before = journal.next
  assert.equal(journal.append(`3${large}`), undefined)
  fold()
  await journal.append(`3${large}`)
  await journal.append('4')
  assert.deepEqual(
    readAll(reader, before).map(([first]) => first),
    ['3', '4'],
  )
  // What is left of earlier rounds is not taken for something new.
  assert.deepEqual(readAll(reader, journal.next), [])
})

test('what it overwrites is in the database, and the other half need not be', async () => {
  const { journal, reader, fold } = await create()
  const starts = new Map<number, JournalPosition>()
  const append = async (seq: number): Promise<boolean> => {
    const { next } = journal
    const written = journal.append(`${seq} `.padEnd(1_000_000, 'y'))
    if (written === undefined) return false
    starts.set(seq, next)
    await written
    return true
  }
  const readFrom = (seq: number): string[] =>
    readAll(reader, starts.get(seq)).map((text) => text.split(' ', 1)[0] ?? '')
  for (let seq = 1; seq <= 8; seq++) assert.ok(await append(seq))
  fold(5)
  assert.ok(!(await append(9)), 'the fifth begins in the first half')
  fold(6)
  for (let seq = 9; seq <= 12; seq++) assert.ok(await append(seq))
  assert.ok(!(await append(13)), 'it would end in the second half, where six to eight are')
  assert.deepEqual(readFrom(6), ['6', '7', '8', '9', '10', '11', '12'])
  fold(9)
  assert.ok(await append(13))
  assert.deepEqual(readFrom(9), ['9', '10', '11', '12', '13'])
})

test('a record that is larger than the file has no room', async () => {
  const { journal } = await create()
  assert.equal(journal.append('z'.repeat(9_000_000)), undefined)
  await journal.append('small')
})

test('the journal of another node is not read as this one’s', async () => {
  const { journal, path } = await create(7)
  await journal.append('mine')
  const reader = JournalReader.open(path, 8)
  assert.ok(reader)
  assert.deepEqual(readAll(reader), [])
  journal.close()
  removeJournal(path)
  removeJournal(path)
  assert.ok(!existsSync(path))
  assert.equal(JournalReader.open(path, 7), undefined)
})

test('a count of commits that cannot be read is no count', async () => {
  const { journal, path } = await create()
  const counted = path.replace(/-node-7$/, '-shm')
  const header = Buffer.alloc(136)
  header.writeInt32LE(1, 8)
  writeFileSync(counted, header)
  assert.ok(journal.state.isCurrent, 'the one commit that it was told of')
  truncateSync(counted)
  assert.ok(!journal.state.isCurrent)
})

const onLinux = {
  skip: process.platform === 'linux' ? false : 'only Linux has files that are always full',
}

test('one that cannot be made leaves nothing', onLinux, async () => {
  const database = join(folder, `${++files}.db`)
  writeFileSync(`${database}-shm`, Buffer.alloc(136))
  symlinkSync('/dev/full', journalPath(database, 7))
  await assert.rejects(Journal.create(database, 7), { code: 'ENOSPC' })
  assert.deepEqual(journalsBeside(database), [])
})

test('none is made where the disk has little room', onLinux, () =>
  assert.rejects(Journal.create('/proc/database', 7), /the disk is nearly full/),
)
