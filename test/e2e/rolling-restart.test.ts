// The short form of `npm run drill -- rolling-restart`: two nodes behind haproxy, each restarted once under load.
import { test } from 'node:test'
import { restartAll } from '../../scripts/drills/rolling-restart.ts'
import { fleetLacks } from '../../scripts/drills/steps/fleet.ts'

test('a restart of one node after another loses no request and cuts no stream', async (context) => {
  const lacking = fleetLacks()
  if (lacking !== undefined) return context.skip(lacking)
  await restartAll({ nodes: 2, applications: 2, rounds: 1 })
})
