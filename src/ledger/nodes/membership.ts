// The nodes that serve from these books: joining, beating, fencing one that has stopped, and whether any serves right now.
// Changes no balances: the writer charges the holds of a fenced node, like everything else.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { codeOf } from '../../core/errors.ts'
import { tablesIn } from '../../store/backup/transaction.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import type { Queries, Tx } from '../../store/database/tables.ts'
import { JOURNAL_PREFIX } from '../../store/sqlite/journal.ts'
import type { OnHold } from '../rules/batch.ts'
import type { Beat } from './failure-detector.ts'

/** Room for 2^20 starts of a node and 2^33 holds each, in a safe integer. */
export const HOLDS_PER_NODE = 2 ** 33

const JOIN_TRIES_MAX = 20

/**
 * Joins under a number that was never used before; the node's hold ids derive from it. Books restored from a backup do
 * not know the `former` number of this process, whose ids it may still remember.
 */
export async function joinNodes(store: Store, former: number): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await insertNode(store, former)
    } catch (error) {
      // Two nodes that join at once pick the same number: the second one tries again.
      if (tries === JOIN_TRIES_MAX || !isDuplicate(error)) throw error
    }
  }
}

/** Counts one beat of this node, and returns the counts of the other live nodes. */
export async function beat(store: Store, nodeId: number): Promise<readonly Beat[]> {
  await store.db
    .updateTable('node_beats')
    .set((column) => ({ beats: column('beats', '+', 1) }))
    .where('node_id', '=', nodeId)
    .execute()
  const all = await readBeats(store)
  return all.filter((other) => other.nodeId !== nodeId)
}

/** How often each live node has beaten so far. */
export function readBeats(store: Store): Promise<readonly Beat[]> {
  return store.db
    .selectFrom('nodes')
    .innerJoin('node_beats', 'node_beats.node_id', 'nodes.id')
    .select(['nodes.id as nodeId', 'node_beats.beats'])
    .where('nodes.status', '=', 'live')
    .execute()
}

/**
 * From here on the node can commit no batch: one in flight has committed before, or sees the fence. False if it was no
 * longer live.
 */
export function fence(store: Store, nodeId: number): Promise<boolean> {
  return endNode(store, nodeId, 'fenced')
}

export async function leaveNodes(store: Store, nodeId: number): Promise<void> {
  await endNode(store, nodeId, 'left')
}

/** Live nodes whose process on this machine is gone: known dead without waiting for missing beats. */
export async function nodesOfDeadProcesses(store: Store): Promise<readonly number[]> {
  const rows = await store.db
    .selectFrom('nodes')
    .select(['id', 'pid'])
    .where('status', '=', 'live')
    .where('host', '=', MACHINE)
    .execute()
  return rows.filter(({ pid }) => !isRunning(pid)).map(({ id }) => id)
}

/** Open holds whose node is no longer live. */
export async function holdsOfDeadNodes(store: Store, limit: number): Promise<readonly OnHold[]> {
  return store.db
    .selectFrom('holds')
    .select(['id as holdId', 'key_id as keyId', 'group_id as groupId'])
    .where(sql<number>`id / ${sql.lit(HOLDS_PER_NODE)}`, 'not in', (query) =>
      query.selectFrom('nodes').select('id').where('status', '=', 'live'),
    )
    .limit(limit)
    .execute()
}

/** The node's own holds reserved before this time. */
export async function holdsOfNode(
  store: Store,
  nodeId: number,
  reservedBefore: number,
): Promise<readonly OnHold[]> {
  return store.db
    .selectFrom('holds')
    .select(['id as holdId', 'key_id as keyId', 'group_id as groupId'])
    .where('id', '>=', nodeId * HOLDS_PER_NODE)
    .where('id', '<', (nodeId + 1) * HOLDS_PER_NODE)
    .where('reserved_at', '<', reservedBefore)
    .execute()
}

async function insertNode(store: Store, former: number): Promise<number> {
  return store.db.transaction().execute(async (tx) => {
    const { id } = await tx
      .insertInto('nodes')
      .columns(['id', 'status', 'host', 'pid', 'joined_at'])
      .expression(
        sql`SELECT CASE WHEN max(id) > ${former} THEN max(id) ELSE ${former} END + 1, 'live', ${MACHINE}, ${process.pid}, ${store.clock.now()} FROM nodes`,
      )
      .returning('id')
      .executeTakeFirstOrThrow()
    await tx.insertInto('node_beats').values({ node_id: id, beats: 0 }).execute()
    return id
  })
}

/** Whether it was live until now. */
async function endNode(store: Store, nodeId: number, status: 'fenced' | 'left'): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('nodes')
    .set({ status, ended_at: store.clock.now() })
    .where('id', '=', nodeId)
    .where('status', '=', 'live')
    .executeTakeFirstOrThrow()
  await store.db.deleteFrom('node_beats').where('node_id', '=', nodeId).execute()
  return numUpdatedRows > 0n
}

/** PostgreSQL's unique_violation; SQLite has one writer at a time, so it cannot happen there. */
function isDuplicate(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** Whether a process with this id runs on this machine. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, under another user.
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Names the scope in which a process id is unique. The host name is not enough: machines made from one image share it,
 * and so do containers on their machine's network, while each numbers its processes from 1.
 */
export const MACHINE = [hostname(), ...namesOfLinux()].join(' ')

/** This boot of the machine, and the namespace of processes that see each other's ids. */
function namesOfLinux(): readonly string[] {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return [start, readlinkSync('/proc/self/ns/pid')]
  } catch {
    return []
  }
}

// Which nodes serve right now, for whoever replaces or copies all of the database: what a node granted meanwhile would be
// lost.

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
