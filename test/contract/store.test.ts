// The store's contracts on both databases.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { groupsContract } from './groups.ts'
import { keysContract } from './keys.ts'
import { refusalsContract } from './refusals.ts'
import { storeContract } from './store.ts'
import { takeoverContract } from './takeover.ts'

for (const [name, kind, fresh] of [
  ['SQLite', 'sqlite', freshSqlite],
  ['PostgreSQL', 'postgres', freshDatabase],
] as const) {
  describe(`store on ${name}`, () => storeContract(fresh))
  describe(`taking over 977cfc19 on ${name}`, () => takeoverContract(kind, fresh))
  describe(`groups on ${name}`, () => groupsContract(fresh))
  describe(`keys on ${name}`, () => keysContract(fresh))
  describe(`refusals on ${name}`, () => refusalsContract(fresh))
}
