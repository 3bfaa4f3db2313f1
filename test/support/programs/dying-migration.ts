// A process that migrates the database of the first argument, and kills itself inside the transaction: after the first
// statement that begins like the second argument.
import { migrate } from '../../../src/store/database/migrate.ts'
import { openBare } from '../store.ts'

const [url = '', last = ''] = process.argv.slice(2)
const { db, kind } = await openBare(url, (statement) => {
  if (statement.startsWith(last)) process.kill(process.pid, 'SIGKILL')
})
await migrate(db, kind)
