// SignIn, implemented with better-auth. Only its functions are called: none of its own HTTP routes is reachable. Import
// this module on first use: it takes a quarter of a second and 20 MB.
import { AsyncLocalStorage } from 'node:async_hooks'
import { hkdfSync } from 'node:crypto'
import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { APIError, isAPIError } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import type { OAuthProvider } from 'better-auth/oauth2'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { newId, type IdPrefix } from '../../core/ids.ts'
import type { HttpClient } from '../../providers/upstream/http.ts'
import { recordChange, type Change } from '../../store/audit/record.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import { isFirstTry } from '../../store/database/try-counts.ts'
import { findPerson, markJoined } from '../../store/people/people.ts'
import {
  countIdentities,
  deleteSessions,
  findPassword,
  identityText,
  isStillLinked,
  isStillPassword,
} from '../../store/people/sign-in.ts'
import type { Log } from '../../telemetry/log.ts'
import { API_PREFIX } from '../contract/route.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../contract/sign-in.ts'
import { hashPassword, verifyPassword } from './credentials.ts'
import { addressProblem, discoverProvider, type OidcSettings } from './identity-provider.ts'
import { subjectOf } from './people.ts'
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

// How better-auth is set up: on Tollgate's database, names and password hash, with a secret derived from Tollgate's.
// Everything is off that Tollgate does itself (signing up, rate limits, links by mail) or not at all (telemetry).

type SignInOptions = {
  readonly store: Store
  readonly log: Log
  readonly secret: string
  /** How browsers reach the administration interface. */
  readonly publicUrl: string
  readonly oidc: OidcSettings | undefined
  /** For calls to the single sign-on provider. */
  readonly http: HttpClient
}

/** The callback URL registered with a provider is below this path. */
const SINGLE_SIGN_ON_PATH = `${API_PREFIX}/sso`
/** Set on every request passed to better-auth, so that no client can forge its address. */
const ADDRESS_HEADER = 'x-tollgate-address'

const SESSION_SECONDS = 7 * 24 * 60 * 60

/** Single sign-on is possible only with its provider. */
function betterAuthOptions(options: SignInOptions, provider?: OAuthProvider) {
  const { store, log, publicUrl } = options
  const trustsEmail = options.oidc?.trustEmail === true
  return {
    appName: 'Tollgate',
    baseURL: publicUrl,
    basePath: SINGLE_SIGN_ON_PATH,
    // A list, because an environment variable would override a single secret.
    secrets: [{ version: 1, value: derivedSecret(options.secret) }],
    // PostgreSQL is treated as SQLite too: then times and flags have one form in both, and the tables one shape.
    database: kyselyAdapter(store.db, { type: 'sqlite' }),
    telemetry: { enabled: false },
    logger: {
      level: 'error' as const,
      log: (_level: string, message: string) => log.warn('identity', { message }),
    },
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      password: {
        hash: hashPassword,
        verify: ({ password, hash }: { password: string; hash: string }) =>
          verifyPassword(password, hash),
      },
    },
    user: {
      ...PERSON,
      validateUserInfo: (profile: SignOnProfile) => checkArrival(profile, options.oidc),
      additionalFields: {
        roleId: {
          type: 'string' as const,
          fieldName: 'role_id',
          required: true,
          input: false,
          defaultValue: () => options.oidc?.roleId ?? '',
        },
      },
    },
    // A session always ends after this long: otherwise a cookie that is used every day would live for ever.
    session: { ...SESSION, expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    account: {
      ...ACCOUNT,
      updateAccountOnSignIn: false,
      accountLinking: {
        enabled: true,
        trustedProviders: provider !== undefined && trustsEmail ? [provider.id] : [],
      },
    },
    verification: VERIFICATION,
    databaseHooks: hooks(store, log),
    advanced: {
      ...cookieSettings(publicUrl),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        validateSchema: false,
        generateId: ({ model }: { model: string }) =>
          newId(ID_PREFIXES[model] ?? 'entry', store.clock),
      },
    },
    plugins: [
      twoFactor({ issuer: 'Tollgate', schema: TWO_FACTOR }),
      ...(provider === undefined
        ? []
        : [{ id: 'single-sign-on', init: () => ({ context: { socialProviders: [provider] } }) }]),
    ],
  }
}

const ID_PREFIXES: Readonly<Record<string, IdPrefix>> = {
  user: 'person',
  people: 'person',
  session: 'session',
  person_sessions: 'session',
}

/** Somebody who arrives by single sign-on. */
type SignOnProfile = {
  readonly source: {
    readonly action: 'create-user' | 'link-account' | 'sign-in'
    readonly oauth?:
      | { readonly profile?: Readonly<Record<string, unknown>> | undefined }
      | undefined
  }
}

/** For whoever finishes a sign-on: what the provider says of the person who arrives. */
const arrivals = new AsyncLocalStorage<(claims: Claims) => void>()

function checkArrival(
  { source: { action, oauth } }: SignOnProfile,
  oidc: OidcSettings | undefined,
): { error: string } | undefined {
  const claims = oauth?.profile ?? {}
  arrivals.getStore()?.(claims)
  // Whoever is already known by their identity may have any address.
  if (action === 'sign-in') return undefined
  const isOpen = action !== 'create-user' || (oidc?.mayCome(claims) ?? false)
  const error = isOpen
    ? addressProblem(claims, { trustEmail: oidc?.trustEmail === true })
    : 'signup_disabled'
  return error === undefined ? undefined : { error }
}

/** A browser accepts a `__Host-` cookie only over HTTPS, and only from the very host that reads it. */
function cookieSettings(publicUrl: string) {
  const isSecure = publicUrl.startsWith('https:')
  return {
    useSecureCookies: false,
    cookiePrefix: isSecure ? '__Host-tollgate' : 'tollgate',
    defaultCookieAttributes: {
      httpOnly: true,
      sameSite: 'strict' as const,
      path: '/',
      secure: isSecure,
    },
    // The provider sends the browser back from another site, and this cookie must be sent along.
    cookies: { state: { attributes: { sameSite: 'lax' as const } } },
  }
}

function hooks(store: Store, log: Log) {
  return {
    user: { create: { after: (person: NewPerson) => recordNewcomer(store, person) } },
    session: {
      create: {
        before: async ({ userId }: { userId: string }) => {
          const person = await findPerson(store.db, { id: userId })
          return person === undefined || person.status === 'blocked' ? false : undefined
        },
        after: async ({ userId }: { userId: string }) => {
          await markJoined(store.db, userId, store.clock.now())
        },
      },
    },
    account: {
      create: {
        before: async (linked: NewIdentity) => {
          await refuseIdentity(store, log, linked)
          // Only the identity is needed: the person's tokens at the provider are not stored.
          return { data: { accessToken: null, refreshToken: null, idToken: null, scope: null } }
        },
        after: (linked: NewIdentity) => recordIdentity(store, linked),
      },
    },
  }
}

type NewPerson = { readonly id: string; readonly email: string; readonly name: string }

/** Records a person whom single sign-on let in without an invitation. */
function recordNewcomer(store: Store, { id, email, name }: NewPerson): Promise<void> {
  const after = { email, name }
  return recordSignOn(store, { id, email }, { action: 'person.join', before: null, after })
}

type NewIdentity = {
  readonly userId: string
  readonly providerId: string
  readonly accountId: string
}

/** Throws unless an identity that comes with the right address may be linked to this person. */
async function refuseIdentity(store: Store, log: Log, linked: NewIdentity): Promise<void> {
  const { userId: id, providerId, accountId: subject } = linked
  const person = await findPerson(store.db, { id })
  if (person?.status === 'blocked') throw new APIError('FORBIDDEN', { code: 'person_blocked' })
  if ((await countIdentities(store.db, { personId: id, providerId })) === 0) return
  // The provider may have given the address to somebody else: the account stays with the first one.
  log.warn('single_sign_on_refused', {
    message: `${identityText({ providerId, subject })} has the address of ${id}, who is linked to another identity there. If both are the same person, unlink the old one: tollgate users unlink ${id}`,
  })
  throw new APIError('FORBIDDEN', { code: 'already_linked' })
}

/** Records that an identity at the provider now belongs to this person. */
async function recordIdentity(store: Store, linked: NewIdentity): Promise<void> {
  const { userId: id, providerId, accountId: subject } = linked
  const person = await findPerson(store.db, { id })
  if (person === undefined) return
  const after = { identity: identityText({ providerId, subject }) }
  await recordSignOn(store, person, { action: 'person.link_identity', before: {}, after })
}

async function recordSignOn(
  store: Store,
  { id, email }: Pick<NewPerson, 'id' | 'email'>,
  change: Pick<Change, 'action' | 'before' | 'after'>,
): Promise<void> {
  const author = { actor: email, source: 'ui', address: null, requestId: null } as const
  const recorded = { ...subjectOf({ id, email }), reason: 'single sign-on', ...change }
  await recordChange(inTheNameOf(store, author), store.db, recorded)
}

function derivedSecret(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'tollgate people', 32)).toString('base64')
}

// Tollgate's names for better-auth's tables and columns (store/database/tables.ts).
const OWNER = { userId: 'person_id' }
const PERSON = { modelName: 'people', fields: columns('emailVerified', 'createdAt', 'updatedAt') }
const SESSION = {
  modelName: 'person_sessions',
  fields: { ...OWNER, ...columns('expiresAt', 'ipAddress', 'userAgent', 'createdAt', 'updatedAt') },
}
const ACCOUNT = {
  modelName: 'identities',
  fields: {
    ...OWNER,
    accountId: 'subject',
    ...columns('providerId', 'accessToken', 'refreshToken', 'idToken'),
    ...columns('accessTokenExpiresAt', 'refreshTokenExpiresAt', 'createdAt', 'updatedAt'),
  },
}
const VERIFICATION = {
  modelName: 'verifications',
  fields: columns('expiresAt', 'createdAt', 'updatedAt'),
}
const TWO_FACTOR = {
  user: { fields: columns('twoFactorEnabled') },
  twoFactor: {
    modelName: 'two_factors',
    fields: { ...OWNER, ...columns('backupCodes', 'failedVerificationCount', 'lockedUntil') },
  },
}

/** `createdAt` is the column `created_at`. */
function columns<Name extends string>(...names: readonly Name[]): Record<Name, string> {
  const pairs = names.map((name) => [
    name,
    name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`),
  ])
  return Object.fromEntries(pairs) as Record<Name, string>
}
