// A process beside the test's: opens the database of the first argument and makes a key named by the second.
import { systemClock } from '../../../src/core/clock.ts'
import { seedFrame } from '../../../src/store/frame.ts'
import { createKey } from '../../../src/store/keys/lifecycle.ts'
import { openStore } from '../../../src/store/open.ts'
import { SAMPLE_FRAME } from '../../samples/frame.ts'
import { newKey } from '../store.ts'

const [url = '', name = ''] = process.argv.slice(2)
const store = await openStore(url, { clock: systemClock })
await seedFrame(store, SAMPLE_FRAME)
await createKey(store, newKey(name))
await store.close()
