// A second process: on request it becomes a node of the database in the first argument and replays the spool in the
// second.
import { once } from 'node:events'

import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { SAMPLE_PACE } from '../../src/ledger/sample-pace.ts'
import { LEDGER_WORKER_MODULE } from '../../src/ledger/sqlite-runner.ts'
import { openStore } from '../../src/store/open.ts'

const [url = '', spoolFolder = ''] = process.argv.slice(2)
const store = await openStore(url, { clock: systemClock, workerModules: [LEDGER_WORKER_MODULE] })
process.send?.('ready')
await once(process, 'message')
const ledger = await openLedger({ store, spoolFolder, ...SAMPLE_PACE })
await ledger.close()
await store.close()
process.disconnect?.()
