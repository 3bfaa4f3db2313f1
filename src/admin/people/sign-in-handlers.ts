// Signing in and out, by password, one-time link and single sign-on: the handlers of contract/sign-in.ts. Every refusal
// is recorded, and no answer reveals whether an address has an account.
import { sentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { recordChange, recordRefusal } from '../../store/audit/record.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import { findPerson, hasPeople } from '../../store/people/people.ts'
import { deleteExpiredSessions } from '../../store/people/sign-in.ts'
import { AdminError } from '../contract/errors.ts'
import type { signInRoutes, SingleSignOnError } from '../contract/sign-in.ts'
import { storeOf, type HandlersOf } from '../http/request.ts'
import { addressTries, limiting, limitTries, signInTries, takeTriesBack } from './credentials.ts'
import { signedInAnswer, visitOf, type PeopleParts } from './identity.ts'
import { findOpenLink, useOpenLink } from './links.ts'
import { subjectOf } from './people.ts'
import type { Cookies, SignInOutcome } from './sign-in.ts'
import { takeSignOn } from './sign-on-groups.ts'

type SignInHandlers = HandlersOf<typeof signInRoutes>

export function signInHandlers(parts: PeopleParts): SignInHandlers {
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

    async signIn(request) {
      const store = storeOf(parts, request)
      const { email, password } = request.body
      const tries = signInTries(email, request.address)
      await limitTries(store, tries)
      const signIn = await parts.signIn()
      const outcome = await signIn.signIn(visitOf(request), { email, password })
      if (outcome.outcome === 'refused') await recordWrong(store, { email })
      else await takeTriesBack(store, tries)
      return stepAnswer(store, outcome, request.setHeader)
    },

    async enterCode(request) {
      const store = storeOf(parts, request)
      const tries = addressTries('address', request.address)
      await limitTries(store, tries)
      const signIn = await parts.signIn()
      const outcome = await signIn.enterCode(visitOf(request), request.body)
      if (outcome.outcome === 'signed-in') await takeTriesBack(store, tries)
      else if ('personId' in outcome) await recordWrong(store, { personId: outcome.personId })
      if (outcome.outcome === 'refused')
        throw new AdminError('wrong_credentials', sentence('sign_in_wrong_step'))
      return stepAnswer(store, outcome, request.setHeader)
    },

    async signOut(request) {
      const { person } = request
      const signIn = await parts.signIn()
      setCookies(request.setHeader, await signIn.signOut(visitOf(request)))
      if (person?.via === 'session') {
        const store = storeOf(parts, request)
        const subject = { action: 'person.sign_out', ...subjectOf(person) } as const
        await recordChange(store, store.db, { ...subject, before: {}, after: {} })
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

function linkHandlers(parts: PeopleParts) {
  return {
    async lookAtLink(request) {
      const store = storeOf(parts, request)
      const tries = addressTries('link', request.address)
      const find = () => findOpenLink(store, request.body.token)
      const { kind, person, expiresAt } = await limiting(store, tries, find)
      return {
        kind,
        email: person?.email ?? null,
        name: person?.name || null,
        expires_at: iso(expiresAt),
      }
    },

    async useLink(request) {
      const store = storeOf(parts, request)
      const tries = addressTries('link', request.address)
      const { email } = await limiting(store, tries, () => useOpenLink(store, request.body))
      const { password } = request.body
      const signIn = await parts.signIn()
      const outcome = await signIn.signIn(visitOf(request), { email, password })
      return stepAnswer(store, outcome, request.setHeader)
    },
  } satisfies Partial<SignInHandlers>
}

/** The browser is sent to the provider, and comes back from it. */
function singleSignOnHandlers(parts: PeopleParts) {
  return {
    async startSingleSignOn(request) {
      refuseWithout(parts)
      await limitTries(storeOf(parts, request), addressTries('sign-on', request.address))
      const signIn = await parts.signIn()
      const started = await signIn.startSingleSignOn(visitOf(request))
      if (started === undefined) {
        throw new AdminError('unavailable', sentence('sign_on_silent'), { retryAfterSeconds: 10 })
      }
      setCookies(request.setHeader, started.cookies)
      return { location: started.location }
    },

    async finishSingleSignOn(request) {
      refuseWithout(parts)
      const store = storeOf(parts, request)
      const tries = addressTries('address', request.address)
      await limitTries(store, tries)
      const error = await finish(parts, request)
      if (error === undefined) {
        await takeTriesBack(store, [...tries, ...addressTries('sign-on', request.address)])
      }
      request.setHeader('location', error === undefined ? '/' : `/sign-in?error=${error}`)
      return { done: true }
    },
  } satisfies Partial<SignInHandlers>
}

/** Why it failed; undefined = the person is signed in. */
async function finish(
  parts: PeopleParts,
  request: Parameters<SignInHandlers['finishSingleSignOn']>[0],
): Promise<SingleSignOnError | undefined> {
  const store = storeOf(parts, request)
  const signIn = await parts.signIn()
  const result = await signIn.finishSingleSignOn(visitOf(request), request.query)
  if (result.outcome === 'unavailable') return 'unavailable'
  setCookies(request.setHeader, result.cookies)
  if (result.outcome === 'signed-in') {
    const { signOnGroups, usualRole } = parts
    if (signOnGroups !== undefined) {
      const arrival = { ...result, usualRole: await usualRole() }
      // Nobody's request: what they may reach is what is decided here.
      const everywhere = { ...parts, store: { ...store, scope: 'everywhere' as const } }
      await takeSignOn(everywhere, signOnGroups, arrival)
    }
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

/** better-auth's error words, and our own, that a person can do something about. */
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

type SetHeader = (name: string, value: string | readonly string[]) => void

/** The next step of signing in, or the refusal. */
async function stepAnswer(
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
    case 'locked': {
      const why = sentence('sign_in_locked')
      throw new AdminError('too_many_attempts', why, { retryAfterSeconds: 900 })
    }
  }
}

async function recordSignIn(store: Store, personId: string): Promise<void> {
  const person = await findPerson(store.db, { id: personId })
  if (person === undefined) return
  const named = inTheNameOf(store, { ...store.author, actor: person.email })
  const change = { action: 'person.sign_in', ...subjectOf(person), before: {}, after: {} } as const
  await recordChange(named, store.db, change)
  await deleteExpiredSessions(store.db, store.clock.now())
}

function setCookies(setHeader: SetHeader, cookies: Cookies): void {
  if (cookies.length > 0) setHeader('set-cookie', cookies)
}
