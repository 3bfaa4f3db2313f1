// Who may do what by the admin API, on both databases. Every caller has the permissions it claims.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { adminAccessContract } from './admin-access.ts'
import { adminScopesContract } from './admin-scopes.ts'

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`access to the admin API on ${name}`, () => adminAccessContract(fresh))
  describe(`roles within groups on ${name}`, () => adminScopesContract(fresh))
}
