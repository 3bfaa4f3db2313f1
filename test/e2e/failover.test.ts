// The short form of `npm run drill -- failover`: the standby of two PostgreSQL servers takes over, without Patroni.
import { test } from 'node:test'
import { systemProgram } from '../../scripts/deploy/tools.ts'
import { failOver } from '../../scripts/drills/failover.ts'
import { startPair } from '../../scripts/drills/steps/pair.ts'

test('a standby that takes over has every answer, charged once', async (context) => {
  try {
    systemProgram('haproxy')
  } catch {
    return context.skip('haproxy is neither installed nor can it be installed here')
  }
  await using pair = await startPair()
  await failOver(pair, { applications: 2, seconds: 1 })
})
