// Single sign-on: the browser is sent to the provider, and comes back from it.
import { sentence } from '../../core/sentences.ts'
import { recordRefusal } from '../../store/audit/record.ts'
import type { HandlersOf } from '../call.ts'
import type { signInRoutes, SingleSignOnError } from '../contract/sign-in.ts'
import { AdminError } from '../error.ts'
import { addressTries, limitTries, takeTriesBack } from './limits.ts'
import { storeFor, type PeopleParts, visitOf } from './parts.ts'
import { recordSignIn, setCookies } from './sign-in-step.ts'

type SingleSignOnHandlers = Pick<
  HandlersOf<typeof signInRoutes>,
  'startSingleSignOn' | 'finishSingleSignOn'
>

export function singleSignOnHandlers(parts: PeopleParts): SingleSignOnHandlers {
  return {
    async startSingleSignOn(call) {
      refuseWithout(parts)
      await limitTries(storeFor(parts, call), addressTries('sign-on', call.address))
      const signIn = await parts.signIn()
      const started = await signIn.startSingleSignOn(visitOf(call))
      if (started === undefined) {
        throw new AdminError('unavailable', sentence('sign_on_silent'), { retryAfterSeconds: 10 })
      }
      setCookies(call.setHeader, started.cookies)
      return { location: started.location }
    },

    async finishSingleSignOn(call) {
      refuseWithout(parts)
      const store = storeFor(parts, call)
      const tries = addressTries('address', call.address)
      await limitTries(store, tries)
      const error = await finish(parts, call)
      if (error === undefined) {
        await takeTriesBack(store, [...tries, ...addressTries('sign-on', call.address)])
      }
      call.setHeader('location', error === undefined ? '/' : `/sign-in?error=${error}`)
      return { done: true }
    },
  }
}

/** Why it failed; undefined = the person is signed in. */
async function finish(
  parts: PeopleParts,
  call: Parameters<SingleSignOnHandlers['finishSingleSignOn']>[0],
): Promise<SingleSignOnError | undefined> {
  const store = storeFor(parts, call)
  const signIn = await parts.signIn()
  const result = await signIn.finishSingleSignOn(visitOf(call), call.query)
  if (result.outcome === 'unavailable') return 'unavailable'
  setCookies(call.setHeader, result.cookies)
  if (result.outcome === 'signed-in') {
    await recordSignIn(store, result.personId)
    return undefined
  }
  await recordRefusal(store, {
    action: 'person.sign_in',
    subject: 'person',
    subjectId: '',
    sentence: sentence('sign_on_refused', { answer: result.reason }),
  })
  return REASONS.get(result.reason) ?? 'failed'
}

/** better-auth's error words, and our own (provider-profile.ts, better-auth-options.ts), that a person can do something about. */
const REASONS: ReadonlyMap<string, SingleSignOnError> = new Map([
  ['signup_disabled', 'not_invited'],
  ['account_not_linked', 'email_not_verified'],
  ['email_not_verified', 'email_not_verified'],
  ['email_not_usable', 'email_not_verified'],
  ['already_linked', 'already_linked'],
  ['person_blocked', 'blocked'],
  ['unable_to_create_session', 'blocked'],
])

function refuseWithout({ singleSignOnName }: PeopleParts): void {
  if (singleSignOnName !== undefined) return
  throw new AdminError('not_found', sentence('sign_on_absent'))
}
