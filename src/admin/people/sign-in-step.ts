// Answers a step of signing in with the next step or the refusal, and records a completed sign-in.
import { sentence } from '../../core/sentences.ts'
import { recordChange } from '../../store/audit/record.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import { findPerson } from '../../store/people/people.ts'
import { deleteExpiredSessions } from '../../store/people/sign-in.ts'
import { AdminError } from '../error.ts'
import { subjectOf } from './people.ts'
import type { Cookies, SignInOutcome } from './sign-in.ts'

type SetHeader = (name: string, value: string | readonly string[]) => void

export async function stepAnswer(
  store: Store,
  outcome: SignInOutcome,
  setHeader: SetHeader,
): Promise<{ step: 'done' | 'code' }> {
  switch (outcome.outcome) {
    case 'signed-in':
      await recordSignIn(store, outcome.personId)
      setCookies(setHeader, outcome.cookies)
      return { step: 'done' }
    case 'code-needed':
      setCookies(setHeader, outcome.cookies)
      return { step: 'code' }
    case 'refused':
      throw new AdminError('wrong_credentials', sentence('sign_in_wrong'))
    case 'locked':
      throw new AdminError('too_many_attempts', sentence('sign_in_locked'), {
        retryAfterSeconds: 900,
      })
  }
}

export async function recordSignIn(store: Store, personId: string): Promise<void> {
  const person = await findPerson(store.db, { id: personId })
  if (person === undefined) return
  const named = inTheNameOf(store, { ...store.author, actor: person.email })
  const change = { action: 'person.sign_in', ...subjectOf(person), before: {}, after: {} } as const
  await store.db.transaction().execute(async (tx) => {
    await recordChange(named, tx, change)
    await deleteExpiredSessions(tx, store.clock.now())
  })
}

export function setCookies(setHeader: SetHeader, cookies: Cookies): void {
  if (cookies.length > 0) setHeader('set-cookie', cookies)
}
