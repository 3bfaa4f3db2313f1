// The short form of `npm run drill -- node-killed`: one of two nodes behind haproxy is killed under load.
import { test } from 'node:test'
import { systemProgram } from '../../scripts/deploy/tools.ts'
import { killOne } from '../../scripts/drills/node-killed.ts'

test('a node that is killed loses what it had in flight, and that is charged; the others serve', async (context) => {
  try {
    systemProgram('haproxy')
  } catch {
    return context.skip('haproxy is neither installed nor can it be installed here')
  }
  await killOne({ nodes: 2, applications: 4, seconds: 1 })
})
