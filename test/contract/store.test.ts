// The store's contracts on both databases.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { keysContract } from './keys.ts'
import { storeContract } from './store.ts'

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`store on ${name}`, () => storeContract(fresh))
  describe(`keys on ${name}`, () => keysContract(fresh))
}
