// The e-mail address that a person signs in with: well-formed and unique. When it changes, sessions elsewhere end, and
// links sent to the old address no longer work.
import { sentence } from '../../core/sentences.ts'
import type { Tx } from '../../store/database/tables.ts'
import { findPerson, normalEmail, updatePerson } from '../../store/people/people.ts'
import { deleteSessions } from '../../store/people/sign-in.ts'
import { deleteOpenLinks } from '../../store/people/tokens.ts'
import { email as emailSchema } from '../contract/sign-in.ts'
import { AdminError, invalidValue } from '../error.ts'

/** The address as it is stored and compared. */
export function checkedEmail(given: string): string {
  const email = normalEmail(given)
  if (emailSchema.safeParse(email).success) return email
  throw invalidValue('email', sentence('email_wrong', { email }))
}

/** Call inside `changeInTurn`, so that two people who choose one address at once do not both get it. */
export async function refuseTaken(tx: Tx, email: string): Promise<void> {
  if ((await findPerson(tx, { email })) === undefined) return
  throw new AdminError('duplicate_name', sentence('person_known', { email }), { field: 'email' })
}

/** Set by a manager of people, who vouches for the address, even for one that the person chose before. */
export async function assignEmail(tx: Tx, person: Moved, email: string): Promise<void> {
  if (email !== person.email) {
    await moveTo(tx, person, email)
    await deleteSessions(tx, { personId: person.id })
  }
  await updatePerson(tx, person.id, { email_verified: 1 })
}

/**
 * Set by the person themselves, so it is unverified: it may belong to somebody else, who would then come in by single
 * sign-on and share this account with the person who knows its password.
 */
export async function chooseEmail(
  tx: Tx,
  person: Moved,
  { email, session }: { readonly email: string; readonly session: string },
): Promise<void> {
  await moveTo(tx, person, email)
  await updatePerson(tx, person.id, { email_verified: 0 })
  await deleteSessions(tx, { personId: person.id, except: session })
}

type Moved = { readonly id: string; readonly email: string }

async function moveTo(tx: Tx, { id }: Moved, email: string): Promise<void> {
  await refuseTaken(tx, email)
  await updatePerson(tx, id, { email })
  await deleteOpenLinks(tx, id)
}
