// On a real disk: what the spool acknowledges survives a crash, and what it cannot keep it does not acknowledge.
import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { NO_USAGE } from '../../core/events.ts'
import type { Charge } from '../rules/rows.ts'
import { leftovers, Spool, type Leftover, whyUnusable } from './spool.ts'

const parent = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
after(() => rmSync(parent, { recursive: true }))

let folders = 0
const newFolder = () => join(parent, `${++folders}`)

function charge(id: number): Charge {
  return {
    id,
    requestId: `req_${id}`,
    keyId: 'key_a',
    groupId: 'grp_a',
    endpoint: 'chat',
    modelAsked: 'm',
    modelServed: null,
    provider: null,
    status: 200,
    errorCode: 'line\nbreak',
    ...NO_USAGE,
    costNanodollars: 2n ** 60n,
    priceVersion: null,
    estimated: false,
    latencyMs: 0,
    firstTokenMs: null,
    traceId: null,
    endUser: null,
    tags: '{}',
    attempts: '[]',
  }
}

test('the next process finds every acknowledged settlement, in order and unchanged', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  const price = { version: 'v1', figures: '{}' }
  await Promise.all([1, 2, 3].map((id) => spool.append({ charge: charge(id), price })))
  await spool.close()
  const [left] = leftovers(folder)
  assert.deepEqual(
    left?.settlements,
    [1, 2, 3].map((id) => ({ charge: charge(id), price })),
  )
  left?.remove()
  assert.deepEqual(readdirSync(folder), [])
})

test('a file whose taker dies before it is done is left to the next', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  await spool.append({ charge: charge(1), price: undefined })
  await spool.close()
  const [one, other] = [leftovers(folder), leftovers(folder)]
  assert.deepEqual(holdsOf(one), [1])
  assert.deepEqual(holdsOf(other), [1], 'the first did not remove it')
})

test('a listed file that another process has taken is not set aside', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  await spool.append({ charge: charge(1), price: undefined })
  await spool.close()
  const [left] = leftovers(folder)
  for (const taken of leftovers(folder)) taken.remove()
  assert.equal(left?.setAside(), undefined)
  left?.remove()
  assert.deepEqual(readdirSync(folder), [])
})

test('a file taken by another process after the listing is skipped', async () => {
  const folder = newFolder()
  for (const id of [1, 2]) {
    const spool = new Spool(folder)
    await spool.append({ charge: charge(id), price: undefined })
    await spool.close()
  }
  const one = leftovers(folder)
  assert.equal(one.next().done, false)
  for (const taken of leftovers(folder)) taken.remove()
  assert.equal(one.next().done, true)
})

test('a file that cannot be read is reported and stays, and the others are found', async () => {
  const folder = newFolder()
  // Even root cannot read a folder as a file.
  mkdirSync(join(folder, 'settlements-0.jsonl'), { recursive: true })
  const spool = new Spool(folder)
  await spool.append({ charge: charge(1), price: undefined })
  await spool.close()
  const reasons: string[] = []
  const left = leftovers(folder, (reason) => void reasons.push(reason))
  assert.deepEqual(holdsOf(left), [1])
  assert.match(reasons.join(), /^EISDIR/)
  assert.equal(readdirSync(folder).length, 2)
})

test('taking the file of a live writer loses nothing that it acknowledged', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  const ids = Array.from({ length: 40 }, (_, index) => index + 1)
  const seen = new Set<number>()
  const take = (): void => {
    for (const { settlements, remove } of leftovers(folder)) {
      for (const spooled of settlements) seen.add(spooled.charge.id)
      remove()
    }
  }
  for (const id of ids) {
    let isKept = false
    const kept = spool.append({ charge: charge(id), price: undefined }).then(() => (isKept = true))
    // Takes the file at a different point of each append.
    for (let turns = 0; !isKept; turns++) {
      if (turns === id % 40) take()
      await turn()
    }
    await kept
  }
  await spool.close()
  take()
  assert.deepEqual([...seen].toSorted(ascending), ids)
})

test('a line that was cut off spoils neither the line before it nor the line after it', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  await spool.append({ charge: charge(1), price: undefined })
  const [name = ''] = readdirSync(folder)
  appendFileSync(join(folder, name), '\n{"charge":{"id":2,"requ')
  await spool.append({ charge: charge(3), price: undefined })
  await spool.close()
  const [left] = leftovers(folder)
  assert.deepEqual(
    left?.settlements.map((spooled) => spooled.charge.id),
    [1, 3],
  )
})

test('a charge that an older version wrote is read as well', () => {
  const folder = newFolder()
  mkdirSync(folder)
  const { id: holdId, ...rest } = charge(7)
  const cost = String(rest.costNanodollars)
  const former = { ...rest, costNanodollars: cost, holdId, tokens: { ...NO_USAGE, inputTokens: 5 } }
  appendFileSync(join(folder, 'settlements-1.jsonl'), JSON.stringify({ charge: former }))
  const [left] = leftovers(folder)
  assert.deepEqual(left?.settlements, [
    { charge: { ...charge(7), inputTokens: 5 }, price: undefined },
  ])
})

test('the file is emptied once all is in the database, and nothing newer is lost', async () => {
  const folder = newFolder()
  const spool = new Spool(folder)
  await spool.append({ charge: charge(1), price: undefined })
  for (let id = 2; id < 200; id++) {
    spool.done()
    await spool.append({ charge: charge(id), price: undefined })
    const [name = ''] = readdirSync(folder)
    assert.ok(readFileSync(join(folder, name), 'utf8').includes(`"id":${id},`))
  }
  const [name = ''] = readdirSync(folder)
  assert.ok(statSync(join(folder, name)).size < 5000, 'it does not grow')
  spool.done()
  await spool.close()
  assert.deepEqual(readdirSync(folder), [])
})

test('a folder that cannot be written is an error, not a silent loss', async () => {
  const file = newFolder()
  appendFileSync(file, '')
  const spool = new Spool(join(file, 'spool'))
  await assert.rejects(spool.append({ charge: charge(1), price: undefined }))
  await spool.close()
  assert.match(whyUnusable(join(file, 'spool')) ?? '', /ENOTDIR/)
  assert.equal(whyUnusable(newFolder()), undefined)
})

function holdsOf(left: Iterable<Leftover>): readonly number[] {
  return [...left].flatMap(({ settlements }) => settlements.map(({ charge: { id } }) => id))
}

function ascending(one: number, other: number): number {
  return one - other
}
