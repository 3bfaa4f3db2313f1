// Records what people were refused. Anyone can be refused any number of times, so equal attempts within one minute
// share a row that counts them, and each caller gets only so many rows a minute: nobody can fill the disk this way.
import { hash } from 'node:crypto'

import { sentence, type Sentence } from '../core/sentences.ts'
import { networkOf } from '../core/text.ts'
import { countAttempt } from './attempts.ts'
import { auditHead, type Subject } from './audit.ts'
import type { Store } from './store.ts'

export type Refused = Omit<Subject, 'reason'> & {
  /** Why it was refused. */
  readonly sentence: Sentence
}

const MINUTE_MS = 60_000
export const ROWS_A_MINUTE_MAX = 20

/** Nothing was changed, so this belongs to no other transaction. */
export async function recordRefusal(store: Store, refused: Refused): Promise<void> {
  const { action, subject, subjectId, subjectName } = refused
  const key = gatherKey(store, [action, subjectId, subjectName ?? '', refused.sentence.text])
  if (await countAgain(store, key)) return
  const now = store.clock.now()
  const rows = await countAttempt(store.db, `refused ${callerOf(store)}`, {
    windowMs: MINUTE_MS,
    now,
  })
  if (rows <= ROWS_A_MINUTE_MAX) return insert(store, refused, key)
  const rest = { action, subject, subjectId: '', sentence: sentence('more_refused') }
  await insert(store, rest, gatherKey(store, ['rest']))
}

async function countAgain(store: Store, key: string): Promise<boolean> {
  const { numUpdatedRows } = await store.db
    .updateTable('audit')
    .set((eb) => ({ count: eb('count', '+', 1) }))
    .where('gathered', '=', key)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function insert(store: Store, refused: Refused, key: string): Promise<void> {
  const { name, values, text } = refused.sentence
  await store.db
    .insertInto('audit')
    .values({
      ...auditHead(store, refused),
      version: null,
      fields: '[]',
      outcome: 'refused',
      reason: text,
      sentence: JSON.stringify({ name, values }),
      gathered: key,
      count: 1,
    })
    .onConflict((conflict) =>
      conflict.column('gathered').doUpdateSet((eb) => ({ count: eb('audit.count', '+', 1) })),
    )
    .execute()
}

/** The same for attempts that share a row. */
function gatherKey(store: Store, parts: readonly string[]): string {
  const minute = Math.floor(store.clock.now() / MINUTE_MS)
  return hash('sha256', JSON.stringify([minute, callerOf(store), ...parts]), 'hex')
}

function callerOf({ author: { actor, source, address } }: Store): string {
  return JSON.stringify([actor, source, address === null ? null : networkOf(address)])
}
