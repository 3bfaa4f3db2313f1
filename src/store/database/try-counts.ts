// How often something was tried recently, counted across all nodes. Counting comes before judging, so that many tries
// at the same moment cannot all find the count below the limit.
import { hash } from 'node:crypto'
import { HOUR_MS } from '../../core/units.ts'
import type { Queries } from './tables.ts'

/** At most an hour long. */
type Counted = { readonly windowMs: number; readonly now: number }

const KEPT_MS = 2 * HOUR_MS

/** Counts one try and returns the number in this window, this one included. Only a hash of the subject is stored. */
export async function countTry(db: Queries, subject: string, window: Counted): Promise<number> {
  await db
    .deleteFrom('try_counts')
    .where('starts_at', '<', window.now - KEPT_MS)
    .execute()
  const { count } = await db
    .insertInto('try_counts')
    .values({ subject: hashOf(subject), starts_at: startOf(window), count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'starts_at'])
        .doUpdateSet((eb) => ({ count: eb('try_counts.count', '+', 1) })),
    )
    .returning('count')
    .executeTakeFirstOrThrow()
  return count
}

/** Counts a try of what may be done once; false for all but the first, for at least one whole window. */
export async function isFirstTry(db: Queries, subject: string, window: Counted): Promise<boolean> {
  const count = await countTry(db, subject, window)
  const earlier = await db
    .selectFrom('try_counts')
    .select('count')
    .where('subject', '=', hashOf(subject))
    .where('starts_at', '=', startOf(window) - window.windowMs)
    .executeTakeFirst()
  return count === 1 && earlier === undefined
}

/** A try that succeeded does not count. */
export async function takeTryBack(db: Queries, subject: string, window: Counted): Promise<void> {
  await db
    .updateTable('try_counts')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('subject', '=', hashOf(subject))
    .where('starts_at', '=', startOf(window))
    .execute()
}

function startOf({ windowMs, now }: Counted): number {
  return now - (now % windowMs)
}

function hashOf(subject: string): string {
  return hash('sha256', subject, 'hex')
}
