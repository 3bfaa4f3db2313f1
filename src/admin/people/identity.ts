// Who sends a request: the person behind a session cookie or a personal access token, or the program behind a service
// token. An external API key is none of these, whichever header carries it.
import { tokenHolder } from '../../core/secret.ts'
import { sentence } from '../../core/sentences.ts'
import { DAY_MS, iso } from '../../core/units.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { Store } from '../../store/database/store.ts'
import type { Queries } from '../../store/database/tables.ts'
import { membershipsOf } from '../../store/groups/members.ts'
import { findPerson, updatePerson, type Person as StoredPerson } from '../../store/people/people.ts'
import {
  findServiceToken,
  recordServiceUse,
  type ServiceToken,
} from '../../store/people/service-tokens.ts'
import { findAccessToken, recordTokenUse } from '../../store/people/tokens.ts'
import { AdminError } from '../contract/errors.ts'
import { MEMBER_ROLE, OWN_PERMISSIONS, type Permission } from '../contract/permissions.ts'
import { storeOf, type AdminParts, type Sender } from '../http/request.ts'
import {
  permissionsAnywhere,
  type Identify,
  type Person,
  type PersonGroup,
  type RequestHeaders,
  type Rights,
} from '../http/guard.ts'
import type { Mailer } from './email.ts'
import { hasExpired, listRoles, roleById, type Actor, type Role } from './roles.ts'
import type { SignIn, SignOnGroups, Visit } from './sign-in.ts'

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
  const person = await present(parts, token.personId, 'token')
  if (person === undefined) return undefined
  if (isNews(token.lastUsedAt, now)) await noted(recordTokenUse(store.db, token.id, now))
  const allowed = (held: ReadonlySet<Permission>): ReadonlySet<Permission> =>
    new Set([...held].filter((each) => token.permissions?.includes(each) ?? true))
  const groups = person.groups.map(({ id, permissions, ofOwnKeys }) => ({
    id,
    permissions: allowed(permissions),
    ofOwnKeys: allowed(ofOwnKeys),
  }))
  return { ...person, permissions: allowed(person.permissions), groups, via: 'token' }
}

async function byServiceToken({ store }: PeopleParts, secret: string): Promise<Person | undefined> {
  const token = await findServiceToken(store.db, { secret })
  const now = store.clock.now()
  if (token === undefined || hasExpired(token, now)) return undefined
  if (isNews(token.lastUsedAt, now)) await noted(recordServiceUse(store.db, token.id, now))
  const { id, name } = token
  const rights = await rightsOfToken(store.db, token)
  return { id, email: actorName(name), name, ...rights, via: 'token' }
}

/** Spaces keep it from being taken for somebody's address. */
function actorName(token: string): string {
  return `service token ${token}`
}

async function bySession(parts: PeopleParts, visit: Visit): Promise<Person | undefined> {
  if (visit.cookie?.includes('tollgate') !== true) return undefined
  const session = await (await parts.signIn()).session(visit)
  if (session === undefined) return undefined
  const person = await present(parts, session.personId, 'session')
  return person && { ...person, via: 'session' }
}

/** A person who may sign in now, with the current permissions of their role. */
async function present(
  { store, requireSecondFactor, inactiveDays }: PeopleParts,
  id: string,
  via: Person['via'],
): Promise<Omit<Person, 'via'> | undefined> {
  const person = await findPerson(store.db, { id })
  if (person?.status !== 'active') return undefined
  const now = store.clock.now()
  // A program that goes on calling does not show that the person is still there.
  if (via === 'token') demandActive(person, { inactiveDays, now })
  else if (isNews(person.lastSeenAt, now)) {
    await noted(updatePerson(store.db, id, { last_seen_at: now }))
  }
  const rights = await rightsOf(store.db, person)
  const dueAt = await secondFactorDue(store, { person, rights }, requireSecondFactor)
  const isOverdue = dueAt !== null && dueAt <= now
  const { email, name } = person
  return {
    ...{ id, email, name, secondFactorDueAt: dueAt, isOverdue },
    ...(isOverdue ? withoutRights(rights) : rights),
  }
}

type Activity = { readonly inactiveDays: number | null; readonly now: number }

/** Whoever no longer signs in keeps nothing but their keys (`people.inactive_days`). */
function demandActive(person: StoredPerson, { inactiveDays, now }: Activity): void {
  if (inactiveDays === null) return
  if (now - (person.lastSeenAt ?? person.createdAt) < inactiveDays * DAY_MS) return
  throw new AdminError('not_signed_in', sentence('person_inactive', { days: inactiveDays }))
}

/**
 * Of whom a second factor is required (`people.require_second_factor`). From then on there are seven days to set it up;
 * afterwards nothing is open but their own account, where they do that. Whoever signs in only elsewhere proves it there.
 */
export type RequiredOf = 'none' | 'managers' | 'all'

const GRACE_MS = 7 * DAY_MS

const OF_MANAGERS: readonly Permission[] = ['configuration:manage', 'people:manage']

/** When they must have it; null = they have it, or need none. Switching it off again gives no further days. */
async function secondFactorDue(
  { db, clock }: Store,
  { person, rights }: { readonly person: StoredPerson; readonly rights: Rights },
  requiredOf: RequiredOf,
): Promise<number | null> {
  const { id, secondFactorDueAt: known } = person
  const isRequired = person.hasPassword && isOneOf(requiredOf, rights)
  const dueAt = isRequired ? (known ?? clock.now() + GRACE_MS) : null
  if (dueAt !== known) await updatePerson(db, id, { second_factor_due_at: dueAt })
  return person.hasTwoFactor ? null : dueAt
}

function isOneOf(requiredOf: RequiredOf, { permissions, groups }: Rights): boolean {
  if (requiredOf !== 'managers') return requiredOf === 'all'
  const held = [permissions, ...groups.map((group) => group.permissions)]
  return held.some((each) => OF_MANAGERS.some((permission) => each.has(permission)))
}

/** What is left to somebody who is overdue. */
function withoutRights({ groups }: Rights): Rights {
  const none = new Set<Permission>()
  const emptied = groups.map(({ id }) => ({ id, permissions: none, ofOwnKeys: none }))
  return { permissions: none, groups: emptied }
}

/** What a person may do now, everywhere and within groups. */
export async function rightsOf(
  db: Queries,
  { id, roleId }: Pick<StoredPerson, 'id' | 'roleId'>,
): Promise<Rights> {
  const roles = await listRoles(db)
  const permissionsOf = (role: string): ReadonlySet<Permission> =>
    new Set(roleById(roles, role).permissions)
  const groups = (await membershipsOf(db, id)).map((membership): PersonGroup => {
    const isServed = membership.roleId === MEMBER_ROLE.id && membership.keyRules.selfService
    return {
      id: membership.groupId,
      permissions: permissionsOf(membership.roleId),
      ofOwnKeys: new Set(isServed ? OWN_PERMISSIONS : []),
    }
  })
  return { permissions: permissionsOf(roleId), groups }
}

async function rightsOfToken(
  db: Queries,
  { roleId, groupId }: Pick<ServiceToken, 'roleId' | 'groupId'>,
): Promise<Rights> {
  const permissions = new Set(roleById(await listRoles(db), roleId).permissions)
  if (groupId === null) return { permissions, groups: [] }
  // A program owns no keys.
  return {
    permissions: new Set(),
    groups: [{ id: groupId, permissions, ofOwnKeys: new Set() }],
  }
}

/** Of a person or a service token; undefined = nothing, as they were blocked, removed or revoked. */
export async function rightsNow(db: Queries, id: string, now: number): Promise<Rights | undefined> {
  const person = await findPerson(db, { id })
  if (person !== undefined) return person.status === 'active' ? rightsOf(db, person) : undefined
  const token = await findServiceToken(db, { id })
  return token === undefined || hasExpired(token, now) ? undefined : rightsOfToken(db, token)
}

/** What somebody may do within a group, wherever they hold it. */
export function rightsWithin(rights: Rights, groupId: string): ReadonlySet<Permission> {
  return rights.permissions.union(rightsIn(rights, groupId))
}

/** What their role in a group permits. */
function rightsIn({ groups }: Rights, groupId: string): ReadonlySet<Permission> {
  return groups.find(({ id }) => id === groupId)?.permissions ?? new Set()
}

/** Whether somebody may manage another person: nobody who may do anything that they may not. */
export function mayManage(one: Rights, other: Rights): boolean {
  const isAbove = other.groups.every(({ id, permissions, ofOwnKeys }) =>
    permissions.union(ofOwnKeys).isSubsetOf(rightsWithin(one, id)),
  )
  if (!isAbove || !other.permissions.isSubsetOf(one.permissions)) return false
  const isEveryoneHere = other.groups.every(({ id }) => rightsWithin(one, id).has('people:manage'))
  return one.permissions.has('people:manage') || (other.groups.length > 0 && isEveryoneHere)
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
  /** What groups at the provider give; undefined = nothing. */
  readonly signOnGroups: SignOnGroups | undefined
  /** The id of the role of people who come without an invitation. */
  readonly usualRole: () => Promise<string | undefined>
  /** Of whom a second factor is required. */
  readonly requireSecondFactor: RequiredOf
  /** After how many days without a sign-in somebody counts as inactive; null = never. */
  readonly inactiveDays: number | null
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
  const roles = await listRoles(db)
  const memberships = await membershipsOf(db, person.id)
  return {
    id: person.id,
    email: person.email,
    name: stored?.name ?? person.name,
    role: nameOf(roleById(roles, roleId ?? '')),
    permissions: [...permissionsAnywhere(person)],
    everywhere: [...person.permissions],
    second_factor_due_at: iso(person.secondFactorDueAt ?? null),
    groups: memberships.map((membership) => ({
      id: membership.groupId,
      name: membership.groupName,
      role: nameOf(roleById(roles, membership.roleId)),
      permissions: [...rightsIn(person, membership.groupId)],
      self_service: membership.keyRules.selfService,
    })),
    via: person.via,
  }
}

function nameOf({ id, name }: Role) {
  return { id, name }
}
