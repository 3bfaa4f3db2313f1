// The nodes that serve from these books: joining, beating, and fencing one that has stopped. Changes no balances: the
// writer charges the holds of a fenced node, like everything else.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { codeOf } from '../../core/errors.ts'
import type { Store } from '../../store/database/store.ts'
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
