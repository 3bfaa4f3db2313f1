// How better-auth is set up: on Tollgate's database, names and password hash, with a secret derived from Tollgate's.
// Everything is off that Tollgate does itself (signing up, rate limits, links by mail) or not at all (telemetry).
import { AsyncLocalStorage } from 'node:async_hooks'
import { hkdfSync } from 'node:crypto'
import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { APIError } from 'better-auth/api'
import type { OAuthProvider } from 'better-auth/oauth2'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { newId, type IdPrefix } from '../../core/ids.ts'
import type { HttpClient } from '../../providers/upstream/http.ts'
import { recordChange, type Change } from '../../store/audit/record.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import { findPerson, markJoined } from '../../store/people/people.ts'
import { countIdentities, identityText } from '../../store/people/sign-in.ts'
import type { Log } from '../../telemetry/log.ts'
import { API_PREFIX } from '../contract/route.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../contract/sign-in.ts'
import { hashPassword, verifyPassword } from './credentials.ts'
import { addressProblem, type OidcSettings } from './identity-provider.ts'
import { subjectOf } from './people.ts'
import type { Claims } from './sign-in.ts'

export type SignInOptions = {
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
export const ADDRESS_HEADER = 'x-tollgate-address'

const SESSION_SECONDS = 7 * 24 * 60 * 60

/** Single sign-on is possible only with its provider. */
export function betterAuthOptions(options: SignInOptions, provider?: OAuthProvider) {
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
export const arrivals = new AsyncLocalStorage<(claims: Claims) => void>()

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
