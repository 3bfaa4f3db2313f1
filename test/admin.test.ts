// The admin API on both databases. Signing in is tested elsewhere: here every caller has the permissions it claims.
import { describe } from 'node:test'

import { adminAccessContract } from './contracts/admin-access.ts'
import { adminAlertsContract } from './contracts/admin-alerts.ts'
import { adminKeysContract } from './contracts/admin-keys.ts'
import { adminListsContract } from './contracts/admin-lists.ts'
import { adminScaleContract } from './contracts/admin-scale.ts'
import { freshDatabase } from './support/postgres.ts'
import { freshSqlite } from './support/store.ts'

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`access to the admin API on ${name}`, () => adminAccessContract(fresh))
  describe(`keys in the admin API on ${name}`, () => adminKeysContract(fresh))
  describe(`alerts in the admin API on ${name}`, () => adminAlertsContract(fresh))
  describe(`lists in the admin API on ${name}`, () => adminListsContract(fresh))
  describe(`what lists in the admin API read on ${name}`, () => adminScaleContract(fresh))
}
