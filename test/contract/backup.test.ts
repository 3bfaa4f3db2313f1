// The contract of backups on both databases.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { backupContract } from './backup.ts'

const databases = { sqlite: freshSqlite, postgres: freshDatabase }

describe('a backup of SQLite', () => backupContract('sqlite', databases))
describe('a backup of PostgreSQL', () => backupContract('postgres', databases))
