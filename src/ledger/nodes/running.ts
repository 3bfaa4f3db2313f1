// Which nodes serve from a database right now, for whoever replaces or copies all of it: what a node granted meanwhile
// would be lost.
import { setTimeout as pause } from 'node:timers/promises'
import { tablesIn } from '../../store/backup/transaction.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import { JOURNAL_PREFIX } from '../../store/sqlite/journal.ts'
import { nodesOfDeadProcesses } from './membership.ts'

type LiveNode = {
  readonly id: number
  readonly host: string
  readonly pid: number
  readonly beats: number
}

const LOOK_EVERY_MS = 200

/**
 * Those that beat, or joined, while it looked; and all that the database takes for live, so that the caller can tell
 * whether another has joined since. Where one was killed, on another machine, this takes as long as it takes for others
 * to notice; mostly it takes no time.
 */
async function findRunning(
  store: Store,
  { deadAfterMs }: Pace,
): Promise<{ readonly running: readonly LiveNode[]; readonly live: readonly LiveNode[] }> {
  const dead = new Set(await nodesOfDeadProcesses(store))
  const live = await liveNodes(store.db)
  const seen = new Map(live.map(({ id, beats }) => [id, beats]))
  if (live.every(({ id }) => dead.has(id))) return { running: [], live }
  const deadlineMs = store.clock.monotonicMs() + deadAfterMs
  while (store.clock.monotonicMs() < deadlineMs) {
    await pause(LOOK_EVERY_MS)
    const running = (await liveNodes(store.db)).filter(({ id, beats }) => seen.get(id) !== beats)
    if (running.length > 0) return { running, live }
  }
  return { running: [], live }
}

function liveNodes(db: Queries): Promise<readonly LiveNode[]> {
  return db
    .selectFrom('nodes')
    .innerJoin('node_beats', 'node_beats.node_id', 'nodes.id')
    .select(['nodes.id', 'nodes.host', 'nodes.pid', 'node_beats.beats'])
    .where('nodes.status', '=', 'live')
    .orderBy('nodes.id')
    .execute()
}

type Pace = { readonly deadAfterMs: number }

/** Refuses while one serves. Returns what makes sure, in the transaction that changes everything, that none came since. */
export async function refuseWhileServing(
  store: Store,
  pace: Pace,
): Promise<(tx: Tx) => Promise<void>> {
  const hasNodes = (await tablesIn(store, store.db)).includes('nodes')
  if (!hasNodes) return async () => {}
  const { running, live } = await findRunning(store, pace)
  if (running.length > 0) throw inUse(running)
  const known = new Set(live.map(({ id }) => id))
  return async (tx) => {
    const joined = (await liveNodes(tx)).filter(({ id }) => !known.has(id))
    if (joined.length > 0) throw inUse(joined)
  }
}

function inUse(nodes: readonly LiveNode[]): StoreError {
  // The name of a machine, then what tells its boots and containers apart.
  const names = nodes.map(({ host, pid }) => `process ${pid} on ${host.split(' ', 1)[0]}`)
  return new StoreError(
    'in_use',
    `servers work on this database (${names.join(', ')}): stop them, then try again`,
  )
}

/** For a copy of the database: the journals that stood beside the original do not go with it. */
export async function forgetJournals(tx: Tx): Promise<void> {
  await tx.deleteFrom('meta').where('name', 'like', `${JOURNAL_PREFIX}%`).execute()
}
