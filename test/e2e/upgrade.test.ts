// The short form of `npm run drill -- upgrade`, and what a later version may add to a database that this one serves.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { earlierVersion } from '../../scripts/drills/steps/earlier-version.ts'
import { upgrade } from '../../scripts/drills/upgrade.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { SCHEMA } from '../../src/store/database/migrations.ts'
import { COMMAND, startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { bareEnv, run } from '../support/process.ts'
import { callSandbox } from '../support/sandbox.ts'
import { freshSqlite, openBare } from '../support/store.ts'

test('an earlier version and this one serve the same database', async (context) => {
  const earlier = await earlierVersion()
  if (earlier === undefined) return context.skip('this clone has no commit with the same schema')
  await upgrade(earlier, 4)
})

describe('a database that a later version has added to', () => {
  const { major, minor } = SCHEMA
  const statements = [
    'CREATE TABLE more (id INTEGER PRIMARY KEY)',
    'ALTER TABLE usage ADD COLUMN more TEXT',
    "ALTER TABLE accounts ADD COLUMN more TEXT NOT NULL DEFAULT 'none'",
    'CREATE INDEX keys_by_creation ON keys (created_at)',
  ]
  const step = { major, minor: minor + 1, statements }
  const later = { ...SCHEMA, ...step, steps: [...SCHEMA.steps, step] }

  for (const [name, fresh] of [
    ['SQLite', freshSqlite],
    ['PostgreSQL', freshDatabase],
  ] as const)
    test(`is served, and stays as it is, on ${name}`, async () => {
      const { url, drop } = await fresh()
      let secret: string | undefined
      const serve = async (version: string): Promise<void> => {
        await using gateway = await startGateway({ database: url })
        secret ??= await gateway.key('app', 'sandbox-chat')
        assert.equal(await callSandbox(gateway.url, secret), 200)
        const { from, statements } = await gateway.tollgate('migrate', '--dry-run')
        assert.deepEqual({ from, statements }, { from: version, statements: [] })
        assert.equal((await gateway.stop()).code, 0)
      }
      await serve(`${major}.${minor}`)
      const { db, kind } = await openBare(url)
      await migrate(db, kind, later)
      await db.destroy()
      await serve(`${major}.${minor + 1}`)
      const env = { ...bareEnv, TOLLGATE_DATABASE: url }
      const verify = await run(process.execPath, [COMMAND, 'ledger', 'verify'], { env })
      assert.match(verify.stdout, /^The books balance\./)
      await drop()
    })
})
