// The store's contracts on both databases.
import { describe } from 'node:test'

import { keysContract } from './contracts/keys.ts'
import { storeContract } from './contracts/store.ts'
import { upgradesContract } from './contracts/upgrades.ts'
import { freshDatabase } from './support/postgres.ts'
import { freshSqlite } from './support/store.ts'

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`store on ${name}`, () => storeContract(fresh))
  describe(`earlier schemas on ${name}`, () => upgradesContract(fresh))
  describe(`keys on ${name}`, () => keysContract(fresh))
}
