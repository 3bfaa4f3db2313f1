// The one gate of the admin API: every route passes it, and a request that it does not know the rule for is refused.
import type { Access, Route } from './contract/route.ts'
import { AdminError } from './error.ts'
import type { Identity, Person, RequestHeaders } from './identity.ts'

export type Arriving = {
  readonly route: Route
  readonly headers: RequestHeaders
  readonly address: string
}

/** The person behind a request that may be answered; undefined on public routes for somebody who is not signed in. */
export async function admitPerson(
  { identity, publicUrl }: { readonly identity: Identity; readonly publicUrl: string },
  arriving: Arriving,
): Promise<Person | undefined> {
  const { route, headers } = arriving
  const person = await identity.find(arriving)
  const isWrite = route.method !== 'GET'
  // A token is no cookie: no browser adds it to another site's request.
  if (isWrite && person?.via !== 'token' && !isFromHere(headers, publicUrl)) {
    throw new Refusal(person, 'wrong_origin', wrongOrigin(publicUrl))
  }
  return permit(person, route.access)
}

/** Remembers who was refused, for the record. */
export class Refusal extends AdminError {
  readonly person: Person | undefined

  constructor(
    person: Person | undefined,
    ...[code, message, details]: ConstructorParameters<typeof AdminError>
  ) {
    super(code, message, details)
    this.person = person
  }
}

function permit(person: Person | undefined, access: Access): Person | undefined {
  if (access === 'public') return person
  if (person === undefined) {
    const message =
      'sign in, or send a personal access token as "Authorization: Bearer …"; keys of the data plane open nothing here'
    throw new Refusal(person, 'not_signed_in', message)
  }
  if (access === 'signed-in' || person.permissions.has(access)) return person
  throw new Refusal(
    person,
    'not_permitted',
    `your role lacks the permission "${access}": ask an administrator for it`,
    { permission: access },
  )
}

/**
 * A browser says which site a write comes from. It must be the one it goes to, by the name it was reached under or by
 * `admin.public_url`. What says nothing is no browser, and has no cookie that somebody else could use.
 */
function isFromHere(headers: RequestHeaders, publicUrl: string): boolean {
  const { origin, host } = headers
  if (origin === undefined) return !isCrossSite(headers)
  if (typeof origin !== 'string' || !URL.canParse(origin)) return false
  return origin === new URL(publicUrl).origin || new URL(origin).host === host
}

function isCrossSite(headers: RequestHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

function wrongOrigin(publicUrl: string): string {
  return `this change comes from another site, so nothing was done: open ${publicUrl}, or set admin.public_url to the address you use`
}
