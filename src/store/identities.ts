// Identities at single sign-on providers: an issuer, a subject there, and the person they belong to here. Another issuer
// may give the same subject to somebody else, so better-auth's name for a provider contains the issuer.
import type { Tx } from './tables.ts'

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
