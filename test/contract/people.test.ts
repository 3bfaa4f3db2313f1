// The contract for people and roles on both databases.
import { describe } from 'node:test'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { freshSqlite } from '../support/store.ts'
import { peopleContract } from './people.ts'

describe('people on SQLite', () => peopleContract(freshSqlite))
describe('people on PostgreSQL', () => peopleContract(freshDatabase))
