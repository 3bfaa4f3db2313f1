// One of several nodes is killed while applications call them. What it had in flight is lost to its callers and charged in
// full, because nobody can know how far it got; everything else must be served, and the books must balance.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/support/until.ts'
import type { Drill } from '../drill.ts'
import { Applications, startFleet, type Charged } from './steps/fleet.ts'
import { timed } from './steps/steps.ts'

const NODES = 3
const APPLICATIONS = 24
const SECONDS = 15

export const drill: Drill = {
  summary: `kills one of ${NODES} nodes behind haproxy under streaming load, and looks for every call in the books`,
  run: ([applications = APPLICATIONS, seconds = SECONDS]) =>
    killOne({ nodes: NODES, applications: Number(applications), seconds: Number(seconds) }),
}

/** Loads them for so many seconds before and after. */
type Size = Readonly<Record<'nodes' | 'applications' | 'seconds', number>>

export async function killOne({ nodes, applications, seconds }: Size): Promise<void> {
  await using fleet = await startFleet(nodes, { config: 'ledger: { beat: 1s, dead_after: 5s }\n' })
  const callers = new Applications(fleet, applications)
  for (const node of fleet.nodes) await node.hasServed()
  await pause(seconds * 1000)
  await fleet.nodes[0]?.stop('SIGKILL')
  const killedMs = performance.now()
  await pause(seconds * 1000)
  await until(() => callers.served.some(({ askedMs }) => askedMs > killedMs))
  await callers.stop()
  const { answers, streams } = callers.counts
  const [lost, cut] = [callers.lost.length, callers.cut.length]
  console.log(`${answers} answers, ${streams} streams; ${lost} requests lost, ${cut} streams cut`)
  // An application waits for one answer at a time.
  assert.ok(lost + cut <= applications, [...callers.lost, ...callers.cut].join('\n'))

  const rows = await timed('until nothing was held, and all had stopped', () => fleet.close())
  const orphans = rows.filter(({ state }) => state === 'orphaned')
  console.log(`calls charged in full, because their node was killed: ${orphans.length}`)
  for (const orphan of orphans) assert.equal(orphan.costNanodollars, orphan.heldNanodollars)
  assert.ok(orphans.length <= lost + cut, 'nothing that was served is charged as if it was lost')
  assertChargedOnce(rows, callers)
  console.log('every answer is charged once, and the books balance with nothing held')
}

/** Every request that was served has one row, and what it cost. */
export function assertChargedOnce(
  rows: readonly Charged[],
  { served }: Pick<Applications, 'served'>,
): void {
  const byRequest = Map.groupBy(rows, ({ requestId }) => requestId)
  for (const { requestId } of served) {
    const states = byRequest.get(requestId)?.map(({ state }) => state)
    assert.deepEqual(states, ['settled'], requestId)
  }
}
