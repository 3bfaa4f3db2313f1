// Who sends a request: the person behind a session cookie or a personal access token, or the program behind a service
// token. An external API key is none of these, whichever header carries it.
import { tokenHolder } from '../../core/secret.ts'
import { sentence } from '../../core/sentences.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { Store } from '../../store/database/store.ts'
import { findPerson, updatePerson } from '../../store/people/people.ts'
import { findServiceToken, recordServiceUse } from '../../store/people/service-tokens.ts'
import { findAccessToken, recordTokenUse } from '../../store/people/tokens.ts'
import { AdminError } from '../contract/errors.ts'
import { storeOf, type AdminParts, type Sender } from '../http/request.ts'
import type { Identify, Person, RequestHeaders } from '../http/guard.ts'
import type { Mailer } from './email.ts'
import { hasExpired, listRoles, roleById, type Actor } from './roles.ts'
import type { SignIn, Visit } from './sign-in.ts'

/** The precision of "last seen"; writing it more often would add nothing. */
const SEEN_EVERY_MS = 60_000

export function personFinder(parts: PeopleParts): Identify {
  return ({ headers, address }) => {
    const authorization = String(headers['authorization'] ?? '')
    // A token takes precedence over a cookie beside it. Another scheme is meant for a proxy in front.
    if (/^bearer\b/i.test(authorization)) return byToken(parts, authorization)
    return bySession(parts, visitOf({ headers, address }))
  }
}

async function byToken(parts: PeopleParts, authorization: string): Promise<Person | undefined> {
  const [, secret = ''] = /^bearer +(\S+)\s*$/i.exec(authorization) ?? []
  const holder = tokenHolder(secret)
  if (holder === undefined) return undefined
  return holder === 'person' ? byPersonalToken(parts, secret) : byServiceToken(parts, secret)
}

async function byPersonalToken(parts: PeopleParts, secret: string): Promise<Person | undefined> {
  const { store } = parts
  const token = await findAccessToken(store.db, secret)
  const now = store.clock.now()
  if (token === undefined || token.expiresAt <= now) return undefined
  const person = await present(parts, token.personId)
  if (person === undefined) return undefined
  if (isNews(token.lastUsedAt, now)) await noted(recordTokenUse(store.db, token.id, now))
  const held = [...person.permissions]
  const allowed = held.filter((each) => token.permissions?.includes(each) ?? true)
  return { ...person, permissions: new Set(allowed), via: 'token' }
}

async function byServiceToken({ store }: PeopleParts, secret: string): Promise<Person | undefined> {
  const token = await findServiceToken(store.db, { secret })
  const now = store.clock.now()
  if (token === undefined || hasExpired(token, now)) return undefined
  if (isNews(token.lastUsedAt, now)) await noted(recordServiceUse(store.db, token.id, now))
  const { permissions } = roleById(await listRoles(store.db), token.roleId)
  const { id, name } = token
  return { id, email: actorName(name), name, permissions: new Set(permissions), via: 'token' }
}

/** Spaces keep it from being taken for somebody's address. */
function actorName(token: string): string {
  return `service token ${token}`
}

async function bySession(parts: PeopleParts, visit: Visit): Promise<Person | undefined> {
  if (visit.cookie?.includes('tollgate') !== true) return undefined
  const session = await (await parts.signIn()).session(visit)
  if (session === undefined) return undefined
  const person = await present(parts, session.personId)
  return person && { ...person, via: 'session' }
}

/** A person who may sign in now, with the current permissions of their role. */
async function present(
  { store }: PeopleParts,
  id: string,
): Promise<Omit<Person, 'via'> | undefined> {
  const person = await findPerson(store.db, { id })
  if (person?.status !== 'active') return undefined
  const now = store.clock.now()
  if (isNews(person.lastSeenAt, now)) await noted(updatePerson(store.db, id, { last_seen_at: now }))
  const { permissions } = roleById(await listRoles(store.db), person.roleId)
  return { id, email: person.email, name: person.name, permissions: new Set(permissions) }
}

/** Ignores an outage: on a full disk, the person who looks for the reason must still be let in. */
async function noted(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (thrown) {
    if (!isOutage(thrown)) throw thrown
  }
}

function isNews(at: number | null, now: number): boolean {
  return at === null || now - at > SEEN_EVERY_MS
}

/** What the handlers of people work with. */
export type PeopleParts = Pick<AdminParts, 'store' | 'log' | 'publicUrl'> & {
  /** Loaded only when somebody signs in or sends a cookie. */
  readonly signIn: () => Promise<SignIn>
  /** Undefined: links are shown to the person who makes them. */
  readonly mailer: Mailer | undefined
  /** Whether the operator configured the public address; false = it is only where the server listens. */
  readonly publicUrlIsWritten: boolean
  /** The label of the single sign-on button; undefined = there is none. */
  readonly singleSignOnName: string | undefined
}

export function actorOf(
  parts: Pick<AdminParts, 'store'>,
  request: Sender & { readonly person: Person },
): Actor {
  const { id: personId, permissions: rights } = request.person
  return { store: storeOf(parts, request), personId, rights }
}

/** What a request says of where it comes from. */
type Addressed = { readonly headers: RequestHeaders; readonly address: string }

export function visitOf({ headers, address }: Addressed): Visit {
  return { cookie: textOf(headers['cookie']), address, userAgent: textOf(headers['user-agent']) }
}

/** The base URL of links: the configured address, which mails require, else the one that the caller used. */
export function linkBase(parts: PeopleParts, { headers }: Pick<Addressed, 'headers'>): string {
  const host = textOf(headers['host'])
  if (parts.publicUrlIsWritten || host === undefined) return parts.publicUrl
  return `http://${host}`
}

/** A script with a token must not be able to extend its own access. */
export function demandBrowser({ via }: Person): void {
  if (via === 'session') return
  throw new AdminError('not_permitted', sentence('token_not_enough'))
}

function textOf(header: RequestHeaders[string]): string | undefined {
  return typeof header === 'string' ? header : header?.[0]
}

/** The signed-in person, as the API shows them to themselves. */
export async function signedInAnswer({ db }: Store, person: Person) {
  const stored = await findPerson(db, { id: person.id })
  const roleId = stored?.roleId ?? (await findServiceToken(db, { id: person.id }))?.roleId
  const { id, name } = roleById(await listRoles(db), roleId ?? '')
  return {
    id: person.id,
    email: person.email,
    name: stored?.name ?? person.name,
    role: { id, name },
    permissions: [...person.permissions],
    via: person.via,
  }
}
