// Signing in and out: the handlers of contract/sign-in.ts, with those of links and single sign-on from their own files.
// Every refusal is recorded, and no answer reveals whether an address has an account.
import { sentence } from '../../core/sentences.ts'
import { recordChange, recordRefusal } from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { findPerson, hasPeople } from '../../store/people/people.ts'
import type { HandlersOf } from '../call.ts'
import type { signInRoutes } from '../contract/sign-in.ts'
import { AdminError } from '../error.ts'
import { addressTries, limitTries, signInTries, takeTriesBack } from './limits.ts'
import { linkHandlers } from './link-handlers.ts'
import { storeFor, type PeopleParts, visitOf } from './parts.ts'
import { subjectOf } from './people.ts'
import { setCookies, stepAnswer } from './sign-in-step.ts'
import { signedInAnswer } from './signed-in-answer.ts'
import { singleSignOnHandlers } from './single-sign-on-handlers.ts'

export function signInHandlers(parts: PeopleParts): HandlersOf<typeof signInRoutes> {
  return {
    ...linkHandlers(parts),
    ...singleSignOnHandlers(parts),

    async readSession({ person }) {
      const { store, singleSignOnName: name, publicUrl } = parts
      return {
        person: person === undefined ? null : await signedInAnswer(store, person),
        setup_needed: person === undefined && !(await hasPeople(store.db)),
        single_sign_on: name === undefined ? null : { name },
        insecure: !publicUrl.startsWith('https:'),
      }
    },

    async signIn(call) {
      const store = storeFor(parts, call)
      const { email, password } = call.body
      const tries = signInTries(email, call.address)
      await limitTries(store, tries)
      const signIn = await parts.signIn()
      const outcome = await signIn.signIn(visitOf(call), { email, password })
      if (outcome.outcome === 'refused') await recordWrong(store, { email })
      else await takeTriesBack(store, tries)
      return stepAnswer(store, outcome, call.setHeader)
    },

    async enterCode(call) {
      const store = storeFor(parts, call)
      const tries = addressTries('address', call.address)
      await limitTries(store, tries)
      const signIn = await parts.signIn()
      const outcome = await signIn.enterCode(visitOf(call), call.body)
      if (outcome.outcome === 'signed-in') await takeTriesBack(store, tries)
      else if ('personId' in outcome) await recordWrong(store, { personId: outcome.personId })
      if (outcome.outcome === 'refused')
        throw new AdminError('wrong_credentials', sentence('sign_in_wrong_step'))
      return stepAnswer(store, outcome, call.setHeader)
    },

    async signOut(call) {
      const { person } = call
      const signIn = await parts.signIn()
      setCookies(call.setHeader, await signIn.signOut(visitOf(call)))
      if (person?.via === 'session') {
        const store = storeFor(parts, call)
        const change = {
          action: 'person.sign_out',
          ...subjectOf(person),
          before: {},
          after: {},
        } as const
        await store.db.transaction().execute((tx) => recordChange(store, tx, change))
      }
      return { done: true }
    },
  }
}

async function recordWrong(
  store: Store,
  tried: { readonly email: string } | { readonly personId: string | null },
): Promise<void> {
  const by = 'email' in tried ? { email: tried.email } : { id: tried.personId ?? '' }
  const person = await findPerson(store.db, by)
  await recordRefusal(store, {
    action: 'person.sign_in',
    subject: 'person',
    subjectId: person?.id ?? '',
    subjectName: person?.email ?? ('email' in tried ? tried.email : null),
    sentence: sentence('email' in tried ? 'sign_in_wrong_password' : 'sign_in_wrong_code'),
  })
}
