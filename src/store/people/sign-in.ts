// What people sign in with, as better-auth keeps it, and the sessions that follow: the hash of a password, identities at
// single sign-on providers, sessions. Anyone who manages people may end them.
import { newId } from '../../core/ids.ts'
import type { Store } from '../database/store.ts'
import type { Queries, Row, Tx } from '../database/tables.ts'
import { normalEmail, PASSWORD_PROVIDER } from './people.ts'
import { deleteOpenLinks } from './tokens.ts'

type Password = { readonly personId: string; readonly hash: string }

/** Sets or replaces the hash. Unused links of the person stop working, and so do sign-ins that wait for a code. */
export async function setPassword(
  { clock }: Pick<Store, 'clock'>,
  db: Queries,
  { personId, hash }: Password,
): Promise<void> {
  const at = new Date(clock.now()).toISOString()
  await db
    .insertInto('identities')
    .values({
      id: newId('entry', clock),
      person_id: personId,
      subject: personId,
      provider_id: PASSWORD_PROVIDER,
      password: hash,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(['provider_id', 'subject']).doUpdateSet({ password: hash, updated_at: at }),
    )
    .execute()
  await deleteOpenLinks(db, personId)
  await db.deleteFrom('verifications').where('value', '=', personId).execute()
}

export async function findPassword(db: Queries, email: string): Promise<Password | undefined> {
  const row = await db
    .selectFrom('people')
    .innerJoin('identities', 'identities.person_id', 'people.id')
    .select(['people.id', 'identities.password'])
    .where('people.email', '=', normalEmail(email))
    .where('identities.provider_id', '=', PASSWORD_PROVIDER)
    .executeTakeFirst()
  return row && { personId: row.id, hash: row.password ?? '' }
}

/** Whether this is still the password. Changes nothing, but as a write it waits for a change in progress. */
export async function isStillPassword(db: Queries, { personId, hash }: Password): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('identities')
    .set({ password: hash })
    .where('provider_id', '=', PASSWORD_PROVIDER)
    .where('subject', '=', personId)
    .where('password', '=', hash)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** At a single sign-on provider: a subject there, which belongs to a person here. */
type Identity = {
  /** better-auth's name for the provider. */
  readonly providerId: string
  readonly subject: string
}

const PROTOCOL = 'oidc '

/** Contains the issuer: another one may give the same subject to somebody else. */
export function providerIdOf(issuer: string): string {
  return PROTOCOL + issuer
}

/** For the record of changes. */
export function identityText({ providerId, subject }: Identity): string {
  return `${subject} at ${providerId.slice(PROTOCOL.length)}`
}

type Linked = { readonly personId: string; readonly providerId: string }

/** How many identities a person has at one provider. */
export async function countIdentities(
  db: Queries,
  { personId, providerId }: Linked,
): Promise<number> {
  const { count } = await db
    .selectFrom('identities')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('person_id', '=', personId)
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()
  return count
}

/** Whether a person still has an identity there. Changes nothing, but as a write it waits for a change in progress. */
export async function isStillLinked(
  db: Queries,
  { personId, providerId }: Linked,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('identities')
    .set({ provider_id: providerId })
    .where('person_id', '=', personId)
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Deletes all of a person's identities, at whichever provider, and returns them. */
export async function deleteIdentities(tx: Tx, personId: string): Promise<readonly Identity[]> {
  const rows = await tx
    .deleteFrom('identities')
    .where('person_id', '=', personId)
    .where('provider_id', '!=', PASSWORD_PROVIDER)
    .returning(['provider_id', 'subject'])
    .execute()
  return rows.map((row) => ({ providerId: row.provider_id, subject: row.subject }))
}

/** Newest first, without expired ones. */
export async function listPersonSessions(
  db: Queries,
  { personId, now }: { readonly personId: string; readonly now: number },
): Promise<readonly Row<'person_sessions'>[]> {
  return db
    .selectFrom('person_sessions')
    .selectAll()
    .where('person_id', '=', personId)
    .where('expires_at', '>', new Date(now).toISOString())
    .orderBy('id', 'desc')
    .execute()
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
  let query = db.deleteFrom('person_sessions').where('person_id', '=', personId)
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
