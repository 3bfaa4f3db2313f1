// The sessions of people who are signed in. better-auth makes the rows; anyone who manages people may end them.
import type { Queries } from './tables.ts'

type PersonSession = {
  readonly id: string
  readonly address: string | null
  readonly userAgent: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

/** Newest first, without expired ones. */
export async function listPersonSessions(
  db: Queries,
  { personId, now }: { readonly personId: string; readonly now: number },
): Promise<readonly PersonSession[]> {
  const rows = await db
    .selectFrom('person_sessions')
    .selectAll()
    .where('user_id', '=', personId)
    .where('expires_at', '>', new Date(now).toISOString())
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    address: row.ip_address === '' ? null : row.ip_address,
    userAgent: row.user_agent === '' ? null : row.user_agent,
    createdAt: Date.parse(row.created_at),
    expiresAt: Date.parse(row.expires_at),
  }))
}

export async function hasSession(db: Queries, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('person_sessions')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

type Ended = {
  readonly personId: string
  /** This one alone. */
  readonly only?: string
  /** All but this one. */
  readonly except?: string
}

/** Ends sessions of a person, and returns how many. */
export async function deleteSessions(
  db: Queries,
  { personId, only, except }: Ended,
): Promise<number> {
  let query = db.deleteFrom('person_sessions').where('user_id', '=', personId)
  if (only !== undefined) query = query.where('id', '=', only)
  if (except !== undefined) query = query.where('id', '!=', except)
  return Number((await query.executeTakeFirst()).numDeletedRows)
}

/** Nobody presents an expired session any more, so nothing else deletes it. */
export async function deleteExpiredSessions(db: Queries, now: number): Promise<void> {
  await db
    .deleteFrom('person_sessions')
    .where('expires_at', '<', new Date(now).toISOString())
    .execute()
}
