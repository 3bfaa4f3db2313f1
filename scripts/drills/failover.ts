// The server of the books is lost while applications call two nodes, and its standby takes over: calls may be refused for
// a while, but nothing that was answered may be missing from the books, and nothing be charged twice.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/support/until.ts'
import type { Drill } from '../drill.ts'
import { assertChargedOnce } from './node-killed.ts'
import { Applications, startFleet } from './steps/fleet.ts'
import type { Cluster } from './steps/pair.ts'
import { startPatroni } from './steps/patroni.ts'
import { timed } from './steps/steps.ts'

const APPLICATIONS = 12
const SECONDS = 15

export const drill: Drill = {
  summary:
    'loses the primary of two PostgreSQL servers under Patroni, etcd and haproxy, under streaming load',
  run: async ([applications = APPLICATIONS, seconds = SECONDS]) => {
    await using cluster = await timed('Patroni, etcd, two servers, haproxy', startPatroni)
    await failOver(cluster, { applications: Number(applications), seconds: Number(seconds) })
  },
}

type Size = Readonly<Record<'applications' | 'seconds', number>>

/** Loads it for so many seconds before and after. */
export async function failOver(cluster: Cluster, { applications, seconds }: Size): Promise<void> {
  await using fleet = await startFleet(2, { database: cluster.url })
  const callers = new Applications(fleet, applications)
  for (const node of fleet.nodes) await node.hasServed()
  await pause(seconds * 1000)
  const lostMs = performance.now()
  await timed('the server lost, and the standby made the primary', () => cluster.loseServer())
  const first = await until(() => callers.served.find(({ askedMs }) => askedMs > lostMs))
  console.log(`no new call was served for ${((first.endedMs - lostMs) / 1000).toFixed(1)} s`)
  await pause(seconds * 1000)
  await callers.stop()
  // Refused by a node, or by the proxy while no node was ready: neither has done anything.
  const lost = callers.lost.filter((each) => !each.startsWith('503 '))
  const refused = callers.counts.late + callers.lost.length - lost.length
  const { answers, streams } = callers.counts
  console.log(
    `${answers} answers, ${streams} streams; ${refused} calls refused with 503, ${lost.length} lost, ${callers.cut.length} streams cut`,
  )
  assert.deepEqual({ lost, cut: callers.cut }, { lost: [], cut: [] })
  assertChargedOnce(await fleet.close(), callers)
  console.log('every answer is charged once, and the books balance with nothing held')
}
