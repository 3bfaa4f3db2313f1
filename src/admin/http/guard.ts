// The one gate of the admin API: every route passes it, and a request without a known rule is refused. Who a caller is
// comes from people/: nothing else here knows how anyone signs in.
import { sentence } from '../../core/sentences.ts'
import { AdminError } from '../contract/errors.ts'
import type { Permission } from '../contract/permissions.ts'
import type { Access, AdminRoute } from '../contract/route.ts'

/** The part of a route that decides who may call it. */
export type Guarded = Pick<AdminRoute, 'method' | 'access'>

type Arriving = {
  readonly route: Guarded
  readonly headers: RequestHeaders
  /** Undefined: nobody is signed in. */
  readonly person: Person | undefined
}

/** Throws unless this request may be answered. */
export function guard({ route, headers, person }: Arriving, publicUrl: string): void {
  const isWrite = route.method !== 'GET'
  // Unlike a cookie, a token is never added by a browser to another site's request.
  if (isWrite && person?.via !== 'token' && !isFromHere(headers, publicUrl)) {
    throw new AdminError('wrong_origin', sentence('other_site', { url: publicUrl }))
  }
  permit(person, route.access)
}

function permit(person: Person | undefined, access: Access): void {
  if (access === 'public') return
  if (person === undefined) {
    throw new AdminError('not_signed_in', sentence('sign_in_needed'))
  }
  if (access === 'signed-in' || person.permissions.has(access)) return
  const told = person.via === 'token' ? 'token_lacks_permission' : 'permission_missing'
  throw new AdminError('not_permitted', sentence(told, { permission: access }), {
    permission: access,
  })
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
  readonly permissions: ReadonlySet<Permission>
  /** session = a cookie, which a browser sends by itself; token = an access token, which it does not. */
  readonly via: 'session' | 'token'
}

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Undefined: nobody is signed in, or no longer. Throws an AdminError if the credentials need a specific refusal. */
export type Identify = (request: {
  readonly headers: RequestHeaders
  readonly address: string
}) => Promise<Person | undefined>
