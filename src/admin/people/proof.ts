// Asks for the password again, before changes that would give someone at an unattended browser lasting access.
import { sentence } from '../../core/sentences.ts'
import { recordRefusal } from '../../store/audit/record.ts'
import type { Call } from '../call.ts'
import type { Route } from '../contract/route.ts'
import { invalidValue } from '../error.ts'
import type { Person } from '../identity.ts'
import { limitTries, takeTriesBack, type Tried } from './limits.ts'
import { demandBrowser, storeFor, type PeopleParts, visitOf } from './parts.ts'
import { subjectOf } from './people.ts'

export type Caller = Pick<
  Call<Route & { readonly access: 'signed-in' }>,
  'person' | 'headers' | 'address' | 'requestId'
>

/** Attempts are limited, because whoever guesses here already has a session. */
export async function demandPassword(
  parts: PeopleParts,
  call: Caller,
  { password, field }: { readonly password: string; readonly field: string },
): Promise<void> {
  demandBrowser(call.person)
  const store = storeFor(parts, call)
  const tries = proofTries(call.person)
  await limitTries(store, tries)
  if (!(await (await parts.signIn()).checkPassword(visitOf(call), password))) {
    const why = sentence('password_wrong')
    await recordRefusal(store, { action: 'person.prove', ...subjectOf(call.person), sentence: why })
    throw invalidValue(field, why)
  }
  await takeTriesBack(store, tries)
}

export function proofTries({ id }: Person): readonly Tried[] {
  return [{ kind: 'person', who: id }]
}
