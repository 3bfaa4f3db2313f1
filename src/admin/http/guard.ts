// The one gate of the admin API: every route passes it, and a request without a known rule is refused. It also decides how
// far a request reaches: the store that a handler is given has that scope. Who a caller is comes from people/.
import { sentence } from '../../core/sentences.ts'
import { NOWHERE, type Scope } from '../../store/database/store.ts'
import { AdminError } from '../contract/errors.ts'
import type { Permission } from '../contract/permissions.ts'
import type { AdminRoute } from '../contract/route.ts'

/** The part of a route that decides who may call it. */
export type Guarded = Pick<AdminRoute, 'method' | 'access' | 'reach'>

type Arriving = {
  readonly route: Guarded
  readonly headers: RequestHeaders
  /** Undefined: nobody is signed in. */
  readonly person: Person | undefined
}

/** Throws unless this request may be answered; else what it may reach. */
export function guard({ route, headers, person }: Arriving, publicUrl: string): Scope {
  const isWrite = route.method !== 'GET'
  // Unlike a cookie, a token is never added by a browser to another site's request.
  if (isWrite && person?.via !== 'token' && !isFromHere(headers, publicUrl)) {
    throw new AdminError('wrong_origin', sentence('other_site', { url: publicUrl }))
  }
  return permit(person, route)
}

function permit(person: Person | undefined, { access, reach }: Guarded): Scope {
  if (access === 'public') return NOWHERE
  if (person === undefined) {
    throw new AdminError('not_signed_in', sentence('sign_in_needed'))
  }
  if (access === 'signed-in') return NOWHERE
  if (person.isOverdue === true) {
    throw new AdminError('not_permitted', sentence('second_factor_needed'), { permission: access })
  }
  const scope = scopeOf(person, access, reach)
  if (scope !== undefined) return scope
  const told = person.via === 'token' ? 'token_lacks_permission' : 'permission_missing'
  throw new AdminError('not_permitted', sentence(told, { permission: access }), {
    permission: access,
  })
}

/** Undefined: the permission is held nowhere that the route reaches. */
function scopeOf(
  person: Person,
  permission: Permission,
  reach: Guarded['reach'],
): Scope | undefined {
  if (person.permissions.has(permission)) return 'everywhere'
  if (reach !== 'groups' && reach !== 'own') return undefined
  const within = (held: 'permissions' | 'ofOwnKeys'): readonly string[] =>
    person.groups.filter((group) => group[held].has(permission)).map(({ id }) => id)
  const groupIds = within('permissions')
  const own = reach === 'own' ? within('ofOwnKeys') : []
  if (groupIds.length + own.length === 0) return undefined
  return { groupIds, own: { personId: person.id, groupIds: own } }
}

/** What somebody may do at all, wherever that is. */
export function permissionsAnywhere({ permissions, groups }: Rights): ReadonlySet<Permission> {
  const held = new Set(permissions)
  for (const group of groups) {
    for (const permission of [...group.permissions, ...group.ofOwnKeys]) held.add(permission)
  }
  return held
}

/**
 * A browser names the site that a write comes from: it must be this one, by `admin.public_url` or by the requested host,
 * over HTTPS if the public address has it. A client that names none has no cookie that another site could use.
 */
function isFromHere(headers: RequestHeaders, publicUrl: string): boolean {
  const { origin, host } = headers
  if (origin === undefined) return !isCrossSite(headers)
  if (typeof origin !== 'string' || !URL.canParse(origin)) return false
  const [from, own] = [new URL(origin), new URL(publicUrl)]
  const isDowngraded = from.protocol === 'http:' && own.protocol === 'https:'
  return from.origin === own.origin || (from.host === host && !(isDowngraded && host === own.host))
}

function isCrossSite(headers: RequestHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** Somebody who may administer the gateway: a person, or a program with a service token. */
export type Person = {
  readonly id: string
  /** What the record of changes calls them; of a program, not an address. */
  readonly email: string
  readonly name: string
  /** Held everywhere. */
  readonly permissions: ReadonlySet<Permission>
  /** The groups that they are in. */
  readonly groups: readonly PersonGroup[]
  /** session = a cookie, which a browser sends by itself; token = an access token, which it does not. */
  readonly via: 'session' | 'token'
  /** By when they must have a second factor, if they lack it; overdue = that is over, and they may do nothing else. */
  readonly secondFactorDueAt?: number | null
  readonly isOverdue?: boolean
}

/** What somebody may do, and where. */
export type Rights = Pick<Person, 'permissions' | 'groups'>

/** What somebody may do within a group: with all of it, and with keys of their own. */
export type PersonGroup = {
  readonly id: string
  readonly permissions: ReadonlySet<Permission>
  readonly ofOwnKeys: ReadonlySet<Permission>
}

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Undefined: nobody is signed in, or no longer. Throws an AdminError if the credentials need a specific refusal. */
export type Identify = (request: {
  readonly headers: RequestHeaders
  readonly address: string
}) => Promise<Person | undefined>
