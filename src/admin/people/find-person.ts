// Who sends a request: the person behind a session cookie or a personal access token. An external API key is neither,
// whichever header carries it.
import { isWellFormedPersonalToken } from '../../core/secret.ts'
import { isOutage } from '../../store/database/outage.ts'
import { findPerson, updatePerson } from '../../store/people/people.ts'
import { findAccessToken, recordTokenUse } from '../../store/people/tokens.ts'
import type { Permission } from '../contract/permissions.ts'
import type { Identity, Person } from '../identity.ts'
import { type PeopleParts, visitOf } from './parts.ts'
import { listRoles, roleById } from './role-list.ts'
import type { Visit } from './sign-in.ts'

/** The precision of "last seen"; writing it more often would add nothing. */
const SEEN_EVERY_MS = 60_000

export function personFinder(parts: PeopleParts): Identity {
  return {
    find: ({ headers, address }) => {
      const authorization = String(headers['authorization'] ?? '')
      // A token takes precedence over a cookie beside it. Another scheme is meant for a proxy in front.
      if (/^bearer\b/i.test(authorization)) return byToken(parts, authorization)
      return bySession(parts, visitOf({ headers, address }))
    },
  }
}

async function byToken(parts: PeopleParts, authorization: string): Promise<Person | undefined> {
  const { store } = parts
  const [, secret = ''] = /^bearer +(\S+)\s*$/i.exec(authorization) ?? []
  if (!isWellFormedPersonalToken(secret)) return undefined
  const token = await findAccessToken(store.db, secret)
  const now = store.clock.now()
  if (token === undefined || token.expiresAt <= now) return undefined
  const person = await present(parts, token.personId)
  if (person === undefined) return undefined
  if (isNews(token.lastUsedAt, now)) await noted(recordTokenUse(store.db, token.id, now))
  const { permissions } = token
  const isAllowed = (permission: Permission): boolean =>
    permissions === null || permissions.includes(permission)
  return {
    ...person,
    permissions: new Set([...person.permissions].filter(isAllowed)),
    via: 'token',
  }
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
  if (person === undefined || person.status !== 'active') return undefined
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
