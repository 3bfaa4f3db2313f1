// The contract for people and roles on both databases.
import { describe } from 'node:test'

import { peopleContract } from './contracts/people.ts'
import { freshDatabase } from './support/postgres.ts'
import { freshSqlite } from './support/store.ts'

describe('people on SQLite', () => peopleContract(freshSqlite))
describe('people on PostgreSQL', () => peopleContract(freshDatabase))
