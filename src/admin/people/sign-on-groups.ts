// What the groups that a single sign-on provider names give a person here: a role everywhere, and roles in groups of keys.
// Decided anew at every sign-in. What came this way is marked, goes when the claim goes, and is not edited by hand; what was
// given by hand stays.
import { sentence } from '../../core/sentences.ts'
import { recordChange } from '../../store/audit/record.ts'
import { inTheNameOf, type Store } from '../../store/database/store.ts'
import { listGroups, type Group } from '../../store/groups/groups.ts'
import { setSignOnMembers } from '../../store/groups/members.ts'
import { findPerson, setSignOnRole } from '../../store/people/people.ts'
import type { Log } from '../../telemetry/log.ts'
import { AdminError } from '../contract/errors.ts'
import { MEMBER_ROLE } from '../contract/permissions.ts'
import type { SignOnTrial } from '../contract/people.ts'
import { subjectOf } from './people.ts'
import type { Claims, SignOnGroups } from './sign-in.ts'
import { change, listRoles, operatorOf, roleById, roleNamed, type Role } from './roles.ts'

type Given = {
  /** Undefined: no entry gives one everywhere. */
  readonly role: Role | undefined
  readonly members: readonly { readonly group: Group; readonly role: Role }[]
  /** Names of groups and roles that do not exist. */
  readonly unknown: readonly string[]
}

/** Whether any entry is for them: then they come without an invitation. */
export function isNamed(settings: SignOnGroups, claims: Claims): boolean {
  const values = valuesIn(settings, claims)
  return settings.map.some(({ value }) => values.includes(value))
}

/** Of several entries for one group, the first counts. */
async function givenBy(store: Store, settings: SignOnGroups, claims: Claims): Promise<Given> {
  const values = valuesIn(settings, claims)
  const [roles, groups] = [await listRoles(store.db), await listGroups(store)]
  const members = new Map<string, Given['members'][number]>()
  const unknown = new Set<string>()
  let everywhere: Role | undefined
  for (const entry of settings.map.filter(({ value }) => values.includes(value))) {
    const role = named(roles, entry.role)
    const group = groups.find(({ name }) => name === entry.group)
    if (role === undefined) unknown.add(entry.role)
    else if (entry.group === undefined) everywhere ??= role
    else if (group === undefined) unknown.add(entry.group)
    else if (!members.has(group.id)) members.set(group.id, { group, role })
  }
  return { role: everywhere, members: [...members.values()], unknown: [...unknown] }
}

function named(roles: readonly Role[], text: string): Role | undefined {
  try {
    return roleNamed(roles, text)
  } catch (error) {
    if (error instanceof AdminError) return undefined
    throw error
  }
}

/** Providers send a list, or a single text. */
function valuesIn({ claim }: SignOnGroups, claims: Claims): readonly string[] {
  const value = claims[claim]
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((each) => typeof each === 'string')
}

type Arrival = {
  readonly personId: string
  readonly claims: Claims
  /** What people have who come without an invitation, and no entry for everywhere. */
  readonly usualRole: string | undefined
}

/** Before the first request of a session that has just begun. */
export async function takeSignOn(
  { store, log }: { readonly store: Store; readonly log: Log },
  settings: SignOnGroups,
  { personId, claims, usualRole = MEMBER_ROLE.id }: Arrival,
): Promise<void> {
  const given = await givenBy(store, settings, claims)
  for (const name of given.unknown) {
    const message = `people.single_sign_on.groups: there is no group or role named ${name}`
    log.error('single_sign_on_name_unknown', { message })
  }
  const named = inTheNameOf(store, { ...store.author, actor: 'single sign-on' })
  const apply = (role: Role | undefined): Promise<void> =>
    applyGiven(named, personId, { ...given, role, usualRole })
  try {
    await apply(given.role)
  } catch (error) {
    if (!(error instanceof AdminError) || error.code !== 'last_manager') throw error
    log.warn('single_sign_on_last_manager', { message: error.message })
    await setSignOnGroups(named, personId, given)
  }
}

type Applied = Given & { readonly usualRole: string }

async function applyGiven(store: Store, personId: string, given: Applied): Promise<void> {
  const record = { action: 'person.change', subject: 'person', subjectId: personId } as const
  await change(operatorOf(store), record, async (tx, roles) => {
    const within = { ...store, db: tx }
    const person = await findPerson(tx, { id: personId })
    if (person === undefined) return
    const isByHand =
      !person.isRoleFromSignOn && ![MEMBER_ROLE.id, given.usualRole].includes(person.roleId)
    const roleId = given.role?.id ?? (person.isRoleFromSignOn ? given.usualRole : person.roleId)
    if (!isByHand) {
      await setSignOnRole(tx, personId, { roleId, isFromSignOn: given.role !== undefined })
      if (roleId !== person.roleId) {
        const nameOf = (id: string) => ({ role: roleById(roles, id).name })
        const [before, after] = [nameOf(person.roleId), nameOf(roleId)]
        await recordChange(within, tx, { ...record, ...subjectOf(person), before, after })
      }
    }
    await setSignOnGroups(within, personId, given)
  })
}

async function setSignOnGroups(store: Store, personId: string, { members }: Given): Promise<void> {
  const roles = await listRoles(store.db)
  const person = await findPerson(store.db, { id: personId })
  if (person === undefined) return
  const wanted = members.map(({ group, role }) => ({ group, roleId: role.id }))
  await setSignOnMembers(store, { person, roleName: (id) => roleById(roles, id).name }, wanted)
}

/** What these claims would give; nothing is changed. */
export async function trySignOn(
  store: Store,
  settings: SignOnGroups | undefined,
  claims: Claims,
): Promise<SignOnTrial> {
  if (settings === undefined) {
    throw new AdminError('wrong_state', sentence('sign_on_groups_absent'))
  }
  const { role, members, unknown } = await givenBy(store, settings, claims)
  const known = settings.map.map(({ value }) => value)
  return {
    claim: settings.claim,
    admitted: isNamed(settings, claims),
    role: role === undefined ? null : { id: role.id, name: role.name },
    groups: members.map((member) => ({
      group: { id: member.group.id, name: member.group.name },
      role: { id: member.role.id, name: member.role.name },
    })),
    unmatched: valuesIn(settings, claims).filter((value) => !known.includes(value)),
    unknown: [...unknown],
  }
}
