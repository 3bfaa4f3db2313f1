// Nodes behind haproxy are restarted one after another, while applications call them: nothing may be lost.
import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'
import { Applications, startFleet } from './steps/fleet.ts'
import { timed } from './steps/steps.ts'

const NODES = 3
const APPLICATIONS = 12
const ROUNDS = 3

export const drill: Drill = {
  summary: `restarts ${NODES} nodes behind haproxy one after another, ${ROUNDS} times, under streaming load`,
  run: ([rounds = ROUNDS, applications = APPLICATIONS]) =>
    restartAll({ nodes: NODES, applications: Number(applications), rounds: Number(rounds) }),
}

type Size = Readonly<Record<'nodes' | 'applications' | 'rounds', number>>

export async function restartAll({ nodes, applications, rounds }: Size): Promise<void> {
  await using fleet = await startFleet(nodes)
  const callers = new Applications(fleet, applications)
  for (let round = 1; round <= rounds; round++)
    for (const [index, node] of fleet.nodes.entries()) {
      await node.hasServed()
      await timed(`round ${round}, node ${index + 1}: stopped, started, served again`, async () => {
        const ended = await node.stop('SIGTERM')
        assert.equal(ended.code, 0, ended.stderr)
        await node.begin()
        await node.hasServed()
      })
    }
  await callers.stop()
  const { answers, streams, late } = callers.counts
  const [lost, cut] = [callers.lost.length, callers.cut.length]
  console.log(`${answers} answers, ${streams} streams; ${lost} requests lost, ${cut} streams cut`)
  if (late > 0) console.log(`${late} requests asked again, because the database was late`)
  assert.deepEqual({ lost: callers.lost, cut: callers.cut }, { lost: [], cut: [] })
  await fleet.verify()
}
