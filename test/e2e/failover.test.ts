// The short form of `npm run drill -- failover`: the standby of two PostgreSQL servers takes over, without Patroni.
import { test } from 'node:test'
import { failOver } from '../../scripts/drills/failover.ts'
import { startPair } from '../../scripts/drills/steps/pair.ts'
import { fleetLacks } from '../../scripts/drills/steps/fleet.ts'

test('a standby that takes over has every answer, charged once', async (context) => {
  const lacking = fleetLacks()
  if (lacking !== undefined) return context.skip(lacking)
  await using pair = await startPair()
  await failOver(pair, { applications: 2, seconds: 1 })
})
