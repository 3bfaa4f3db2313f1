// A node of frozen-node.test.ts: asks and settles until it gets the message to freeze, then stops itself inside a
// batch, with its locks taken and its commit not yet sent. When it resumes, it continues until its parent disconnects.
import { writeFileSync } from 'node:fs'
import pg from 'pg'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, settlement } from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

const [url = '', keyId = '', marker = ''] = process.argv.slice(2)
let isToFreeze = false
let isOver = false

const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  if (isToFreeze && given[0] === 'COMMIT') {
    isToFreeze = false
    writeFileSync(marker, '')
    process.kill(process.pid, 'SIGSTOP')
  }
  return Reflect.apply(query, this, given)
} as typeof query

const store = await openStore(url, { clock: systemClock })
const ledger = await openLedger({ store, ...SAMPLE_PACE, beatMs: 100, deadAfterMs: 1000 })
process.on('message', () => (isToFreeze = true))
process.on('disconnect', () => (isOver = true))
process.send?.('ready')
while (!isOver) {
  const asked = ask(keyId, 1)
  const answer = await ledger.reserve(asked)
  if (answer.reserved) await ledger.settle(settlement(asked, answer)).catch(() => {})
}
await ledger.close()
await store.close()
