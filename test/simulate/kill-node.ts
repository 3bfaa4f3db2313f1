// A process of the kill loop: asks, pretends to call a provider, and settles, as fast as it can until it is killed. It
// records what the provider knows in a file, before the call and after the settlement was acknowledged.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { findKey, type Key } from '../../src/store/keys/keys.ts'
import { openStore } from '../../src/store/open.ts'
import { ask, settlement } from '../contract/ledger-fixture.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

const CLIENTS = 16

const [url = '', truthFile = '', spoolFolder = '', ...keys] = process.argv.slice(2)
const truth = openSync(truthFile, 'a')
const store = await openStore(url, {
  clock: systemClock,
  threadModules: [LEDGER_THREAD_MODULE],
})
const ledger = await openLedger({
  store,
  spoolFolder,
  ...SAMPLE_PACE,
  beatMs: 100,
  deadAfterMs: 1000,
  sweepMs: 1000,
})
const callers = new Map<string, Known>()
let isStopping = false
process.on('message', () => (isStopping = true))
// Whoever started it is gone, and with it who would have stopped it.
process.on('disconnect', () => process.exit())
process.send?.('ready')
await Promise.all(Array.from({ length: CLIENTS }, client))
await ledger.close()
await store.close()
process.disconnect?.()

type Known = Pick<Key, 'allowVersion' | 'groupId' | 'groupVersion'>

/** The key as it was when it was last looked up: it is looked up again when a request is refused. */
async function current(keyId: string): Promise<Known> {
  const known = callers.get(keyId)
  if (known !== undefined) return known
  const { allowVersion, groupId, groupVersion } = await findKey(store, keyId)
  const found = { allowVersion, groupId, groupVersion }
  callers.set(keyId, found)
  return found
}

async function client(): Promise<void> {
  while (!isStopping) {
    const keyId = keys[Math.floor(Math.random() * keys.length)] ?? ''
    const known = await current(keyId)
    const asked = ask(keyId, 1 + Math.floor(Math.random() * 1000), { whenTight: 'cap', ...known })
    const answer = await ledger.reserve(asked)
    if (!answer.reserved) {
      callers.delete(keyId)
      await sleep(5)
      continue
    }
    writeSync(truth, `dispatched ${answer.holdId} ${answer.amountNanodollars}\n`)
    await sleep(Math.random() * 20)
    const cost = (answer.amountNanodollars * BigInt(Math.floor(Math.random() * 11))) / 10n
    writeSync(truth, `cost ${answer.holdId} ${cost}\n`)
    // If neither database nor spool takes it, the client is told that its answer failed, and the hold stays.
    const settled = await ledger
      .settle(settlement(asked, answer, { costNanodollars: cost }))
      .catch(() => undefined)
    if (settled !== undefined) writeSync(truth, `settled ${answer.holdId} ${cost}\n`)
  }
}
