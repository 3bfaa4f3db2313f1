// SignIn, implemented with better-auth. Only its functions are called: none of its own HTTP routes is reachable. Import
// this module on first use: it takes a quarter of a second and 20 MB.
import { isAPIError } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import type { Store } from '../../store/database/store.ts'
import { isFirstTry } from '../../store/database/try-counts.ts'
import {
  deleteSessions,
  findPassword,
  isStillLinked,
  isStillPassword,
} from '../../store/people/sign-in.ts'
import {
  ADDRESS_HEADER,
  arrivals,
  betterAuthOptions,
  type SignInOptions,
} from './better-auth-options.ts'
import { discoverProvider } from './identity-provider.ts'
import type { Claims, SignIn, SignInOutcome, SingleSignOn, Visit } from './sign-in.ts'

type Auth = ReturnType<typeof newAuth>

/** Stored with the session, to tell one browser from another. */
const USER_AGENT_LENGTH_MAX = 300
/** A code is valid in its own half minute and those before and after: its use is remembered for longer. */
const CODE_MS = 120_000

export function betterAuthSignIn(options: SignInOptions): SignIn {
  // Separate from single sign-on, whose provider has to be asked first: passwords must not wait for that.
  const auth = newAuth(options)
  const { api } = auth
  return {
    ...singleSignOn(options),

    async session(visit) {
      const found = await api.getSession(asked(visit))
      if (found === null) return undefined
      const { id, userId } = found.session
      return { id, personId: userId }
    },

    signIn: (visit, given) => signIn(options, auth, { visit, ...given }),
    enterCode: (visit, given) => enterCode(options, auth, { visit, ...given }),

    async signOut(visit) {
      const { headers } = await api.signOut({ ...asked(visit), returnHeaders: true })
      return headers.getSetCookie()
    },

    checkPassword: (visit, password) =>
      refusing(false, async () => {
        await api.verifyPassword({ ...asked(visit), body: { password } })
        return true
      }),

    startTwoFactor: (visit, password) =>
      refusing(undefined, async () => {
        const setup = await api.enableTwoFactor({ ...asked(visit), body: { password } })
        if (setup.method !== 'totp') return undefined
        return { uri: setup.totpURI, recoveryCodes: setup.backupCodes }
      }),

    confirmTwoFactor: (visit, code) =>
      refusing(undefined, async () => {
        const request = { ...asked(visit), body: { code }, returnHeaders: true as const }
        const { headers, response } = await api.verifyTOTP(request)
        await takeCode(options, { personId: response.user.id, code })
        return headers.getSetCookie()
      }),

    endTwoFactor: (visit, password) =>
      refusing(undefined, async () => {
        const request = { ...asked(visit), body: { password }, returnHeaders: true as const }
        return (await api.disableTwoFactor(request)).headers.getSetCookie()
      }),

    newRecoveryCodes: (visit, password) =>
      refusing(undefined, async () => {
        const made = await api.generateBackupCodes({ ...asked(visit), body: { password } })
        return made.backupCodes
      }),
  }
}

type Given<Step extends 'signIn' | 'enterCode'> = Parameters<SignIn[Step]>[1] & {
  readonly visit: Visit
}

async function signIn(
  { store }: SignInOptions,
  auth: Auth,
  { visit, email, password }: Given<'signIn'>,
): Promise<SignInOutcome> {
  const refused: SignInOutcome = { outcome: 'refused', personId: null }
  const known = await findPassword(store.db, email)
  return refusing<SignInOutcome>(refused, async () => {
    const request = { ...asked(visit), body: { email, password }, returnHeaders: true as const }
    const { headers, response } = await auth.api.signInEmail(request)
    // If the password was changed meanwhile, all sessions were ended, perhaps just before this one was made.
    if (known === undefined || !(await isStillPassword(store.db, known))) {
      await endSessionIn(store, auth, headers)
      return refused
    }
    const cookies = headers.getSetCookie()
    // The library's types lack this second kind of answer.
    if ('twoFactorRedirect' in response) return { outcome: 'code-needed', cookies }
    return { outcome: 'signed-in', personId: response.user.id, cookies }
  })
}

async function enterCode(
  { store }: SignInOptions,
  auth: Auth,
  { visit, code, kind }: Given<'enterCode'>,
): Promise<SignInOutcome> {
  const cookie = pendingCookie(visit)
  const request = { ...asked({ ...visit, cookie }), body: { code }, returnHeaders: true as const }
  const challenged = await personChallenged(auth, cookie)
  try {
    const { headers, response } = await (kind === 'app'
      ? auth.api.verifyTOTP(request)
      : auth.api.verifyBackupCode(request))
    const personId = response.user.id
    if (kind === 'app' && !(await takeCode({ store }, { personId, code }))) {
      await endSessionIn(store, auth, headers)
      return { outcome: 'refused', personId }
    }
    return { outcome: 'signed-in', personId, cookies: headers.getSetCookie() }
  } catch (error) {
    if (!isAPIError(error)) throw error
    const isLocked = LOCKED.has(String(error.body?.code))
    return { outcome: isLocked ? 'locked' : 'refused', personId: challenged ?? null }
  }
}

/** True only for the first use of a code: anyone who uses it again may have read it over a shoulder. */
function takeCode(
  { store }: Pick<SignInOptions, 'store'>,
  { personId, code }: { readonly personId: string; readonly code: string },
): Promise<boolean> {
  const window = { windowMs: CODE_MS, now: store.clock.now() }
  return isFirstTry(store.db, `code ${personId} ${code}`, window)
}

const LOCKED = new Set(['TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE', 'ACCOUNT_TEMPORARILY_LOCKED'])

/** The session that the cookies of an answer open. */
async function sessionIn({ api }: Auth, answered: Headers) {
  const cookie = answered.getSetCookie().map((each) => each.split(';', 1)[0])
  const found = await api.getSession({ headers: new Headers({ cookie: cookie.join('; ') }) })
  return found?.session
}

/** Ends the session that an answer opens: the library made it before all checks were done. */
async function endSessionIn({ db }: Store, auth: Auth, answered: Headers): Promise<void> {
  const made = await sessionIn(auth, answered)
  if (made !== undefined) await deleteSessions(db, { personId: made.userId, only: made.id })
}

/** The person who gave the right password in the step before. Only that browser has the cookie of this sign-in. */
async function personChallenged(auth: Auth, pending: string): Promise<string | undefined> {
  const [, identifier = ''] = /=([^.]+)\./.exec(pending) ?? []
  const { internalAdapter } = await auth.$context
  return (await internalAdapter.findVerificationValue(identifier))?.value
}

/** The cookie of a sign-in that waits for its code. Other sessions of this browser are ignored. */
function pendingCookie({ cookie = '' }: Visit): string {
  return cookie.split('; ').find((pair) => /^[\w.-]*two_factor=/.test(pair)) ?? ''
}

function singleSignOn(
  options: SignInOptions,
): Pick<SignIn, 'startSingleSignOn' | 'finishSingleSignOn'> {
  let found: Promise<Reached | undefined> | undefined
  /** Undefined if the provider cannot be reached; the next call tries again. */
  const reach = async (): Promise<Reached | undefined> => {
    found ??= discover(options)
    const reached = await found
    if (reached === undefined) found = undefined
    return reached
  }
  return {
    async startSingleSignOn(visit) {
      const reached = await reach()
      if (reached === undefined) return undefined
      const body = { provider: reached.id, callbackURL: '/', disableRedirect: true }
      const request = { ...asked(visit), body, returnHeaders: true as const }
      const { headers, response } = await reached.auth.api.signInSocial(request)
      if (response.url === undefined) return undefined
      return { location: response.url, cookies: headers.getSetCookie() }
    },

    async finishSingleSignOn(visit, query) {
      const reached = await reach()
      if (reached === undefined) return { outcome: 'unavailable' }
      return finish(options, reached, { visit, query })
    },
  }
}

/** A provider that has described itself, by the id under which the library knows it. */
type Reached = { readonly auth: Auth; readonly id: string }

async function discover(options: SignInOptions): Promise<Reached | undefined> {
  const provider = options.oidc && (await discoverProvider(options, options.oidc))
  if (provider === undefined) return undefined
  return { auth: newAuth(options, provider), id: provider.id }
}

type Return = { readonly visit: Visit; readonly query: Readonly<Record<string, string>> }

async function finish(
  { store }: SignInOptions,
  { auth, id }: Reached,
  { visit, query }: Return,
): Promise<SingleSignOn> {
  let claims: Claims = {}
  const keep = (found: Claims): void => {
    claims = found
  }
  const { headers } = await arrivals.run(keep, () =>
    auth.api.callbackOAuth({
      ...asked(visit),
      method: 'GET',
      params: { id },
      query,
      asResponse: true,
    }),
  )
  const cookies = headers.getSetCookie()
  const location = new URL(headers.get('location') ?? '/', 'http://here')
  const error = location.searchParams.get('error')
  if (error !== null) return { outcome: 'refused', reason: error, cookies }
  const session = await sessionIn(auth, headers)
  if (session === undefined) return { outcome: 'refused', reason: 'no_session', cookies }
  const personId = session.userId
  // If the identity was unlinked meanwhile, all sessions were ended, perhaps just before this one was made.
  if (!(await isStillLinked(store.db, { personId, providerId: id }))) {
    await endSessionIn(store, auth, headers)
    return { outcome: 'refused', reason: 'unlinked', cookies: [] }
  }
  return { outcome: 'signed-in', personId, claims, cookies }
}

function newAuth(...given: Parameters<typeof betterAuthOptions>) {
  return betterAuth(betterAuthOptions(...given))
}

function asked({ cookie, address, userAgent }: Visit): { readonly headers: Headers } {
  const headers = new Headers({ [ADDRESS_HEADER]: address })
  if (cookie !== undefined) headers.set('cookie', cookie)
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, USER_AGENT_LENGTH_MAX))
  return { headers }
}

/** Returns `refused` if the library refuses; any other error is a fault. */
async function refusing<Result>(refused: Result, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isAPIError(error) && error.statusCode < 500) return refused
    throw error
  }
}
