// Handlers for the SQLite thread, like those of the ledger.
import type { DatabaseSync } from 'node:sqlite'
import type { ThreadHandlers } from '../../../src/store/sqlite/connection.ts'

export const handlers: ThreadHandlers = {
  'test.setRpm': (db: DatabaseSync, rpm: number) => {
    db.prepare("UPDATE accounts SET rpm = ? WHERE id = 'frame'").run(rpm)
    if (rpm > 100) throw new RangeError('rpm is too high')
    return db.prepare("SELECT rpm FROM accounts WHERE id = 'frame'").get()
  },
  'test.die': () => process.exit(3),
  'test.unsendable': () => () => 'a function',
}
