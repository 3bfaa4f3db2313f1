// A second process: a node of the database in the first argument, with the spool in the second, that holds two amounts
// on the key in the third. On request it voids both, reports that, and waits to be killed.
import { once } from 'node:events'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'
import { ask, granted } from './ledger-fixture.ts'

const [url = '', spoolFolder = '', keyId = ''] = process.argv.slice(2)
const store = await openStore(url, { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] })
const ledger = await openLedger({ store, spoolFolder, ...SAMPLE_PACE })
const holds = [
  granted(await ledger.reserve(ask(keyId, 1000))),
  granted(await ledger.reserve(ask(keyId, 2000))),
]
process.send?.('ready')
await once(process, 'message')
await Promise.all(holds.map(({ holdId }) => ledger.void(holdId, 'client_gone')))
process.send?.('voided')
