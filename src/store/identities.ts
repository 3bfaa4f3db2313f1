// Identities at single sign-on providers: an issuer, a subject there, and the person they belong to here. Another issuer
// may give the same subject to somebody else, so better-auth's name for a provider contains the issuer.
import { PASSWORD_PROVIDER } from './people.ts'
import type { Queries, Tx } from './tables.ts'

type Identity = {
  /** better-auth's name for the provider. */
  readonly providerId: string
  readonly subject: string
}

/** How earlier releases named every provider. */
const NAMELESS = 'oidc'

export function providerIdOf(issuer: string): string {
  return `${NAMELESS} ${issuer}`
}

/** For the record of changes. */
export function identityText({ providerId, subject }: Identity): string {
  return `${subject} at ${providerId.slice(NAMELESS.length + 1)}`
}

/** Gives identities that an earlier release stored without their issuer to the provider that is in use now. */
export async function adoptIdentities(tx: Tx, providerId: string): Promise<void> {
  // A node of the earlier release may have stored one again since.
  await tx
    .deleteFrom('person_accounts')
    .where('provider_id', '=', NAMELESS)
    .where('account_id', 'in', (eb) =>
      eb.selectFrom('person_accounts').select('account_id').where('provider_id', '=', providerId),
    )
    .execute()
  await tx
    .updateTable('person_accounts')
    .set({ provider_id: providerId })
    .where('provider_id', '=', NAMELESS)
    .execute()
}

type Linked = { readonly personId: string; readonly providerId: string }

/** How many identities a person has at one provider. */
export async function countIdentities(
  db: Queries,
  { personId, providerId }: Linked,
): Promise<number> {
  const { count } = await db
    .selectFrom('person_accounts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', personId)
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
    .updateTable('person_accounts')
    .set({ provider_id: providerId })
    .where('user_id', '=', personId)
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Deletes all of a person's identities, at whichever provider, and returns them. */
export async function deleteIdentities(tx: Tx, personId: string): Promise<readonly Identity[]> {
  const rows = await tx
    .deleteFrom('person_accounts')
    .where('user_id', '=', personId)
    .where('provider_id', '!=', PASSWORD_PROVIDER)
    .returning(['provider_id', 'account_id'])
    .execute()
  return rows.map((row) => ({ providerId: row.provider_id, subject: row.account_id }))
}
