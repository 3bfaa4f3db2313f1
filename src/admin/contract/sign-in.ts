// Signing in: what the web interface may know before anyone is signed in, the steps of a sign-in, and one-time links. A
// link's token is behind the # of its URL, which browsers do not send to a server; the interface sends it in a body.
import { z } from 'zod'

import { PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { done, EMAIL_LENGTH_MAX, givenName, moment } from './values.ts'

export const PASSWORD_LENGTH_MIN = 12
export const PASSWORD_LENGTH_MAX = 200
export const PERSON_NAME_LENGTH_MAX = 100
/** A code from the app, or a recovery code as the person wrote it down. */
export const CODE_LENGTH_MAX = 40

export const email = z.email('enter an e-mail address').max(EMAIL_LENGTH_MAX)
export const personName = givenName(PERSON_NAME_LENGTH_MAX)
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH_MIN, `use at least ${PASSWORD_LENGTH_MIN} characters`)
  .max(PASSWORD_LENGTH_MAX, `use at most ${PASSWORD_LENGTH_MAX} characters`)
/** A password to check: no rules but a bound, because a wrong one is refused anyway. */
export const oldPassword = z.string().min(1, 'enter your password').max(1_000)
export const code = z.string().trim().min(1, 'enter the code').max(CODE_LENGTH_MAX)

export const roleName = z.object({ id: z.string(), name: z.string() })

export const signedIn = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleName,
  /** What the person may do at all: everywhere, or only within groups. */
  permissions: z.array(z.enum(PERMISSIONS)),
  /** Those of them that are held everywhere. */
  everywhere: z.array(z.enum(PERMISSIONS)),
  /** By when they must set up codes from an app; afterwards nothing else is permitted. Null: they need not. */
  second_factor_due_at: moment.nullable(),
  groups: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      role: roleName,
      /** What the role permits within it. */
      permissions: z.array(z.enum(PERMISSIONS)),
      /** Whether its members manage keys of their own. */
      self_service: z.boolean(),
    }),
  ),
  via: z.enum(['session', 'token']),
})

const session = z.object({
  /** Null: show the sign-in page. */
  person: signedIn.nullable(),
  /** There are no people yet: the first administrator uses the link that the first start printed. */
  setup_needed: z.boolean(),
  /** Null: not configured. */
  single_sign_on: z.object({ name: z.string() }).nullable(),
  /** This is plain HTTP: anyone on the network path can read passwords and keys. */
  insecure: z.boolean(),
})

/** `code`: the password was right, and the app's code must be sent to /session/code. */
const signInStep = z.object({ step: z.enum(['done', 'code']) })

const token = z.string().min(1).max(200)

/** Each kind of link opens its own page: /welcome, /invitation or /reset-password, with # and the token. */
export const LINK_KINDS = ['setup', 'invitation', 'reset'] as const
export const LINK_PAGES = {
  setup: '/welcome',
  invitation: '/invitation',
  reset: '/reset-password',
} as const satisfies Record<(typeof LINK_KINDS)[number], string>

const linkFacts = z.object({
  kind: z.enum(LINK_KINDS),
  /** The owner of the link; null for the first administrator, who enters both address and name. */
  email: z.string().nullable(),
  name: z.string().nullable(),
  expires_at: moment,
})

export const signInRoutes = {
  readSession: route('GET /session', 'public', {
    summary: 'Who is signed in, and the ways to sign in here',
    answer: session,
  }),
  signIn: route('POST /session', 'public', {
    summary: 'Sign in with e-mail address and password',
    body: z.strictObject({ email, password: oldPassword }),
    answer: signInStep,
  }),
  enterCode: route('POST /session/code', 'public', {
    summary: 'The second step of a sign-in: a code from the app, or a recovery code',
    body: z.strictObject({ code, kind: z.enum(['app', 'recovery']).default('app') }),
    answer: signInStep,
  }),
  signOut: route('DELETE /session', 'public', { summary: 'Sign out', answer: done }),
  startSingleSignOn: route('POST /sso/start', 'public', {
    summary: 'Where to send the browser for single sign-on',
    answer: z.object({ location: z.string() }),
  }),
  finishSingleSignOn: route('GET /sso/callback/oidc', 'public', {
    summary: 'Where the single sign-on provider sends the browser back to',
    query: z.record(z.string(), z.string().max(4_096)),
    answer: done,
    status: 303,
  }),
  lookAtLink: route('POST /links/look', 'public', {
    summary: 'What a one-time link is for, without using it',
    body: z.strictObject({ token }),
    answer: linkFacts,
  }),
  useLink: route('POST /links/use', 'public', {
    summary: 'Use a one-time link: set a password and be signed in',
    body: z.strictObject({
      token,
      password: newPassword,
      /** Invited people and the first administrator may send a name; only the latter sends an address. */
      name: personName.optional(),
      email: email.optional(),
    }),
    answer: signInStep,
  }),
}

export type SessionAnswer = z.output<typeof session>
export type LinkKind = (typeof LINK_KINDS)[number]

/** Why single sign-on ended at /sign-in?error=… */
export const SINGLE_SIGN_ON_ERRORS = [
  /** This address was not invited. */
  'not_invited',
  /** The provider does not call the address verified, or its owner here chose it and no manager vouched for it. */
  'email_not_verified',
  /** The account of this address is linked to another identity at the provider. */
  'already_linked',
  'blocked',
  'unavailable',
  /** Started in another browser, too long ago, or cancelled: try again. */
  'failed',
] as const
export type SingleSignOnError = (typeof SINGLE_SIGN_ON_ERRORS)[number]
