// What the admin API does, on both databases. Signing in is tested elsewhere, and who may do what in
// admin-rights.test.ts: here every caller has the permissions it claims.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { adminAlertsContract } from './admin-alerts.ts'
import { adminDestinationsContract } from './admin-destinations.ts'
import { adminGroupsContract } from './admin-groups.ts'
import { adminKeysContract } from './admin-keys.ts'
import { adminListsContract } from './admin-lists.ts'
import { adminManifestContract } from './admin-manifest.ts'
import { adminPlaygroundContract } from './admin-playground.ts'
import { adminRefusalsContract } from './admin-refusals.ts'
import { adminScaleContract } from './admin-scale.ts'
import { adminWishesContract } from './admin-wishes.ts'

for (const [name, fresh] of [
  ['SQLite', freshSqlite],
  ['PostgreSQL', freshDatabase],
] as const) {
  describe(`wishes in the admin API on ${name}`, () => adminWishesContract(fresh))
  describe(`keys in the admin API on ${name}`, () => adminKeysContract(fresh))
  describe(`groups in the admin API on ${name}`, () => adminGroupsContract(fresh))
  describe(`alerts in the admin API on ${name}`, () => adminAlertsContract(fresh))
  describe(`alert destinations in the admin API on ${name}`, () => adminDestinationsContract(fresh))
  describe(`manifests in the admin API on ${name}`, () => adminManifestContract(fresh))
  describe(`lists in the admin API on ${name}`, () => adminListsContract(fresh))
  describe(`the playground in the admin API on ${name}`, () => adminPlaygroundContract(fresh))
  describe(`refused calls in the admin API on ${name}`, () => adminRefusalsContract(fresh))
  describe(`what lists in the admin API read on ${name}`, () => adminScaleContract(fresh))
}
