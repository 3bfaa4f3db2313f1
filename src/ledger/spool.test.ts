// What the spool acknowledged is there after a crash, on a real disk, and what it cannot keep it does not acknowledge.
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { NO_USAGE } from '../core/events.ts'
import type { Charge } from './books.ts'
import { leftovers, Spool } from './spool.ts'

const parent = mkdtempSync(join(tmpdir(), 'tollgate-spool-'))
after(() => rmSync(parent, { recursive: true }))

let folders = 0
const newFolder = () => join(parent, `${++folders}`)
const nobodyRuns = () => false

function charge(holdId: number): Charge {
  return {
    holdId,
    requestId: `req_${holdId}`,
    keyId: 'key_a',
    endpoint: 'chat',
    modelAsked: 'm',
    modelServed: null,
    provider: null,
    status: 200,
    errorCode: 'line\nbreak',
    tokens: NO_USAGE,
    costNanodollars: 2n ** 60n,
    priceVersion: null,
    estimated: false,
    latencyMs: 0,
    firstTokenMs: null,
    endUser: null,
    tags: '{}',
    attempts: '[]',
  }
}

test('what was acknowledged is there for the next process, in order and unchanged', async () => {
  const folder = newFolder()
  const spool = new Spool(folder, 'a')
  const price = { version: 'v1', figures: '{}' }
  await Promise.all([1, 2, 3].map((id) => spool.append({ charge: charge(id), price })))
  assert.deepEqual(leftovers(folder, nobodyRuns), [], 'not while it is in use')
  await spool.close()
  const [left] = leftovers(folder, nobodyRuns)
  assert.deepEqual(
    left?.settlements,
    [1, 2, 3].map((id) => ({ charge: charge(id), price })),
  )
  left?.remove()
  assert.deepEqual(readdirSync(folder), [])
})

test('the file of a process that still runs is left alone', async () => {
  const folder = newFolder()
  const spool = new Spool(folder, 'a')
  await spool.append({ charge: charge(1), price: undefined })
  await spool.close()
  const [name = ''] = readdirSync(folder)
  const others = name.replace(`${process.pid}`, '1')
  appendFileSync(join(folder, others), readFileSync(join(folder, name)))
  assert.equal(leftovers(folder, () => true).length, 1)
  assert.equal(leftovers(folder, nobodyRuns).length, 2)
})

test('a line that was cut off spoils neither the one before it nor the one after it', async () => {
  const folder = newFolder()
  const spool = new Spool(folder, 'a')
  await spool.append({ charge: charge(1), price: undefined })
  const [name = ''] = readdirSync(folder)
  appendFileSync(join(folder, name), '\n{"charge":{"holdId":2,"requ')
  await spool.append({ charge: charge(3), price: undefined })
  await spool.close()
  const [left] = leftovers(folder, nobodyRuns)
  assert.deepEqual(
    left?.settlements.map((spooled) => spooled.charge.holdId),
    [1, 3],
  )
})

test('once all are in the database the file is empty, and nothing that came since is lost', async () => {
  const folder = newFolder()
  const spool = new Spool(folder, 'a')
  await spool.append({ charge: charge(1), price: undefined })
  for (let id = 2; id < 200; id++) {
    spool.done()
    await spool.append({ charge: charge(id), price: undefined })
    const [name = ''] = readdirSync(folder)
    assert.ok(readFileSync(join(folder, name), 'utf8').includes(`"holdId":${id},`))
  }
  const [name = ''] = readdirSync(folder)
  assert.ok(statSync(join(folder, name)).size < 5000, 'it does not grow')
  spool.done()
  await spool.close()
  assert.deepEqual(readdirSync(folder), [])
})

test('a folder that cannot be written is an error, not a loss', async () => {
  const file = newFolder()
  appendFileSync(file, '')
  const spool = new Spool(join(file, 'spool'), 'a')
  await assert.rejects(spool.append({ charge: charge(1), price: undefined }))
  await spool.close()
})
