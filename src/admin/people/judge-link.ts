// Whether a one-time link still works, and the refusal that says why not.
import { sentence } from '../../core/sentences.ts'
import type { Queries } from '../../store/database/tables.ts'
import { findPerson, hasPeople, type Person } from '../../store/people/people.ts'
import { lookAtLink, type Link, type LinkMaker } from '../../store/people/tokens.ts'
import type { Permission } from '../contract/permissions.ts'
import { AdminError } from '../error.ts'
import { listRoles, roleById } from './role-list.ts'

type Judged = {
  readonly link: Link | undefined
  readonly person: Person | undefined
  /** Why it does not work; undefined = it works. */
  readonly end: keyof typeof LINK_REFUSALS | undefined
}

export async function judgeLink(db: Queries, token: string, now: number): Promise<Judged> {
  const { state, link } = await lookAtLink(db, token, now)
  if (link === undefined) return { link, person: undefined, end: 'unknown' }
  const id = link.personId
  const person = id === null ? undefined : await findPerson(db, { id })
  if (person?.status === 'blocked') return { link, person, end: 'blocked' }
  if (state !== 'open') return { link, person, end: state }
  if (person === undefined) {
    const isFirst = link.kind === 'setup' && !(await hasPeople(db))
    return { link, person, end: isFirst ? undefined : 'used' }
  }
  // Single sign-on may have let them in meanwhile.
  if (link.kind === 'invitation' && person.status !== 'invited')
    return { link, person, end: 'used' }
  return { link, person, end: (await couldMake(db, link.maker, person)) ? undefined : 'withdrawn' }
}

/**
 * A link may do only what its maker could do now. The maker may have seen it, so it must not outlive their rights, nor
 * open an account that has since gained rights the maker never held.
 */
async function couldMake(db: Queries, maker: LinkMaker | null, person: Person): Promise<boolean> {
  if (maker === null) return true
  const found = await findPerson(db, { id: maker.personId })
  if (found?.status !== 'active') return false
  const roles = await listRoles(db)
  const held = roleById(roles, found.roleId).permissions
  const needed: readonly Permission[] = [
    'people:manage',
    ...roleById(roles, person.roleId).permissions,
  ]
  return needed.every((each) => held.includes(each) && maker.permissions.includes(each))
}

export const LINK_REFUSALS = {
  used: () => new AdminError('link_used', sentence('link_used')),
  expired: () => new AdminError('link_expired', sentence('link_expired')),
  withdrawn: () => new AdminError('link_expired', sentence('link_withdrawn')),
  blocked: () => new AdminError('wrong_state', sentence('account_blocked')),
  unknown: () => new AdminError('invalid_link', sentence('link_unknown')),
}
