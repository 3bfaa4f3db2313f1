// The short form of `npm run drill -- rolling-restart`: two nodes behind haproxy, each restarted once under load.
import { test } from 'node:test'
import { systemProgram } from '../../scripts/deploy/tools.ts'
import { restartAll } from '../../scripts/drills/rolling-restart.ts'

test('a restart of one node after another loses no request and cuts no stream', async (context) => {
  try {
    systemProgram('haproxy')
  } catch {
    return context.skip('haproxy is neither installed nor can it be installed here')
  }
  await restartAll({ nodes: 2, applications: 2, rounds: 1 })
})
