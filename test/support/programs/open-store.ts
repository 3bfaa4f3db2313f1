// Opens the database of the first argument and prints "opened", or the code and the message of the refusal.
import { systemClock } from '../../../src/core/clock.ts'
import { StoreError } from '../../../src/store/database/errors.ts'
import { openStore } from '../../../src/store/open.ts'

try {
  await openStore(process.argv[2] ?? '', { clock: systemClock })
  console.log('opened')
} catch (error) {
  console.log(error instanceof StoreError ? `${error.code} ${error.message}` : error)
}
