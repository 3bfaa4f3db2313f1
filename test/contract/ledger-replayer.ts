// A second process: on request it becomes a node of the database in the first argument and replays the spool in the
// second. With a third it is killed on the way: after that many commits, or, for 0, when it has taken the first file.
import { once } from 'node:events'
import { systemClock } from '../../src/core/clock.ts'
import { openLedger } from '../../src/ledger/nodes/open.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { leftovers } from '../../src/ledger/writer/spool.ts'
import { openStore } from '../../src/store/open.ts'
import { SAMPLE_PACE } from '../samples/ledger-pace.ts'

const [url = '', spoolFolder = '', killedAfter = 'Infinity'] = process.argv.slice(2)
let commits = 0
const die = (): void => void process.kill(process.pid, 'SIGKILL')
const onCommit = (): void => {
  if (++commits === Number(killedAfter)) die()
}
const store = await openStore(url, { clock: systemClock, threadModules: [LEDGER_THREAD_MODULE] })
process.send?.('ready')
await once(process, 'message')
if (killedAfter === '0') for (const _ of leftovers(spoolFolder)) die()
const ledger = await openLedger({ store, spoolFolder, onCommit, ...SAMPLE_PACE })
await ledger.close()
await store.close()
process.disconnect?.()
