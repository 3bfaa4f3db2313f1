// The short form of `npm run drill -- node-killed`: one of two nodes behind haproxy is killed under load.
import { test } from 'node:test'
import { killOne } from '../../scripts/drills/node-killed.ts'
import { fleetLacks } from '../../scripts/drills/steps/fleet.ts'

test('a node that is killed loses what it had in flight, and that is charged; the others serve', async (context) => {
  const lacking = fleetLacks()
  if (lacking !== undefined) return context.skip(lacking)
  await killOne({ nodes: 2, applications: 4, seconds: 1 })
})
