// A request that meets a change of its key appears in the reports once, and not as failed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../src/core/clock.ts'
import { reportUsage } from '../../../src/ledger/reports/report.ts'
import type { Store } from '../../../src/store/database/store.ts'
import { findKey } from '../../../src/store/keys/keys.ts'
import { updateKey } from '../../../src/store/keys/lifecycle.ts'
import { openStore } from '../../../src/store/open.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { freshSqlite } from '../../support/store.ts'

/** Disposed in reverse order, however far the setup came. */
const opened = new AsyncDisposableStack()
let gateway: TestGateway
let books: Store

before(async () => {
  const database = await freshSqlite()
  opened.defer(() => database.drop())
  gateway = await startGateway({ database: database.url })
  opened.defer(async () => void (await gateway.stop()))
  books = await openStore(database.url, { clock: systemClock })
  opened.defer(() => books.close())
})
after(() => opened.disposeAsync())

async function ask(secret: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  assert.equal(response.status, 200, await response.text())
}

test('a request that meets a change of its key is counted once', async () => {
  const secret = await gateway.key('changing', 'sandbox-chat')
  await ask(secret)
  await updateKey(books, 'changing', { limitNanodollars: 11_000_000_000n })
  await ask(secret)
  // Refusals are written at the latest when the gateway stops.
  await gateway.stop()
  assert.deepEqual(await countsOf('changing'), { requests: 2, failed: 0, refused: 0 })
})

async function countsOf(name: string) {
  const { id } = await findKey(books, name)
  const until = systemClock.now() + 1
  const { total } = await reportUsage(books, { key: id, since: 0, until, by: [] })
  const { requests, failed, refused } = total
  return { requests, failed, refused }
}
