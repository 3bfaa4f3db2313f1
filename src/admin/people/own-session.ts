// The session in which a person changes their own account. It must still be open when the change is made, because
// ending it, as a password reset does, is meant to prevent exactly that.
import { sentence } from '../../core/sentences.ts'
import type { Tx } from '../../store/database/tables.ts'
import { hasSession } from '../../store/people/sign-in.ts'
import { AdminError } from '../error.ts'
import { demandBrowser, type PeopleParts, visitOf } from './parts.ts'
import type { Caller } from './proof.ts'
import type { Session } from './sign-in.ts'

export async function sessionOf(parts: PeopleParts, call: Caller): Promise<Session> {
  demandBrowser(call.person)
  const session = await (await parts.signIn()).session(visitOf(call))
  if (session === undefined) throw sessionEnded()
  return session
}

/** Call inside `changeInTurn`, where the session cannot end in the meantime. */
export async function demandOpen(tx: Tx, { id }: Session): Promise<void> {
  if (!(await hasSession(tx, id))) throw sessionEnded()
}

export function sessionEnded(): AdminError {
  return new AdminError('not_signed_in', sentence('sign_in_again'))
}
