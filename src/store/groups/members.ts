// The people of a group, and the role that each has in it. Which roles there are, admin/people/ knows.
import { sentence } from '../../core/sentences.ts'
import { recordChange } from '../audit/record.ts'
import { StoreError } from '../database/errors.ts'
import { withChangeLock } from '../database/revision.ts'
import type { Store } from '../database/store.ts'
import type { Queries, Tx } from '../database/tables.ts'
import type { Group } from './groups.ts'
import { readKeyRules, type KeyRules } from './groups.ts'
import { aboutGroup } from './lifecycle.ts'

export type Member = {
  readonly personId: string
  readonly name: string
  readonly email: string
  readonly roleId: string
  readonly addedAt: number
  readonly lastSeenAt: number | null
  /** 1: as the single sign-on provider says. */
  readonly fromSignOn: number | null
}

/** By their e-mail addresses. */
export function listMembers(
  { db }: Pick<Store, 'db'>,
  groupId: string,
): Promise<readonly Member[]> {
  return db
    .selectFrom('group_members')
    .innerJoin('people', 'people.id', 'group_members.person_id')
    .select(['people.name', 'people.email'])
    .select('group_members.person_id as personId')
    .select('group_members.role_id as roleId')
    .select('group_members.created_at as addedAt')
    .select('people.last_seen_at as lastSeenAt')
    .select('group_members.from_sign_on as fromSignOn')
    .where('group_id', '=', groupId)
    .orderBy('people.email')
    .execute()
}

type Person = { readonly id: string; readonly email: string }
type NamedRole = { readonly id: string; readonly name: string }

type OneOfGroup = {
  readonly group: Pick<Group, 'id' | 'name'>
  readonly person: Person
  /** What roles are called, for the record. */
  readonly roleName: (id: string) => string
  /** Throws unless the change is allowed, of somebody with this role in the group. */
  readonly demand?: (tx: Tx, roleId: string | undefined) => Promise<void>
}

/** Gives a person a role in a group; one who is a member already gets the new role. */
export function addMember(store: Store, membership: OneOfGroup, role: NamedRole): Promise<void> {
  const { group, person, roleName } = membership
  return withChangeLock(store, async (tx) => {
    const before = await roleByHand(tx, membership)
    await membership.demand?.(tx, before)
    await tx
      .insertInto('group_members')
      .values({
        group_id: group.id,
        person_id: person.id,
        role_id: role.id,
        created_at: store.clock.now(),
      })
      .onConflict((conflict) =>
        conflict.columns(['group_id', 'person_id']).doUpdateSet({ role_id: role.id }),
      )
      .execute()
    await recordChange(store, tx, {
      ...aboutGroup('group.add_member', group),
      before: before === undefined ? null : { [person.email]: roleName(before) },
      after: { [person.email]: role.name },
    })
  })
}

/** Throws wrong_state for somebody who is not in the group. */
export function removeMember(store: Store, membership: OneOfGroup): Promise<void> {
  const { group, person, roleName } = membership
  return withChangeLock(store, async (tx) => {
    const before = await roleByHand(tx, membership)
    if (before === undefined) {
      throw new StoreError('wrong_state', sentence('member_missing', { email: person.email }))
    }
    await membership.demand?.(tx, before)
    await tx
      .deleteFrom('group_members')
      .where('group_id', '=', group.id)
      .where('person_id', '=', person.id)
      .execute()
    await recordChange(store, tx, {
      ...aboutGroup('group.remove_member', group),
      before: { [person.email]: roleName(before) },
      after: null,
    })
  })
}

/** Whether anybody has this role within a group. */
export async function isRoleInGroup(db: Queries, roleId: string): Promise<boolean> {
  const row = await db
    .selectFrom('group_members')
    .select('role_id')
    .where('role_id', '=', roleId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

type Membership = {
  readonly groupId: string
  readonly groupName: string
  readonly roleId: string
  readonly keyRules: KeyRules
}

/** The groups that a person is in, by name. */
export async function membershipsOf(db: Queries, personId: string): Promise<readonly Membership[]> {
  const rows = await db
    .selectFrom('group_members')
    .innerJoin('groups', 'groups.id', 'group_members.group_id')
    .select(['groups.id', 'groups.name', 'group_members.role_id', 'groups.key_rules'])
    .where('group_members.person_id', '=', personId)
    .orderBy('groups.name')
    .execute()
  return rows.map((row) => ({
    groupId: row.id,
    groupName: row.name,
    roleId: row.role_id,
    keyRules: readKeyRules(row.key_rules),
  }))
}

export async function isMember(
  db: Queries,
  { groupId, personId }: { readonly groupId: string; readonly personId: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('group_members')
    .select('role_id')
    .where('group_id', '=', groupId)
    .where('person_id', '=', personId)
    .executeTakeFirst()
  return row !== undefined
}

/** Throws wrong_state for a role that the single sign-on provider gives: it would come back with the next sign-in. */
async function roleByHand(tx: Tx, { group, person }: OneOfGroup): Promise<string | undefined> {
  const row = await tx
    .selectFrom('group_members')
    .select(['role_id', 'from_sign_on'])
    .where('group_id', '=', group.id)
    .where('person_id', '=', person.id)
    .executeTakeFirst()
  if (row?.from_sign_on !== 1) return row?.role_id
  throw new StoreError('wrong_state', sentence('from_sign_on', { email: person.email }))
}

type SignedOn = Pick<OneOfGroup, 'person' | 'roleName'>
type SignOnMember = { readonly group: Pick<Group, 'id' | 'name'>; readonly roleId: string }

/** Makes somebody a member of just these groups, beside those that they were put into by hand. */
export function setSignOnMembers(
  store: Store,
  { person, roleName }: SignedOn,
  wanted: readonly SignOnMember[],
): Promise<void> {
  return withChangeLock(store, async (tx) => {
    const rows = await tx
      .selectFrom('group_members')
      .innerJoin('groups', 'groups.id', 'group_members.group_id')
      .select(['groups.id', 'groups.name', 'role_id', 'from_sign_on'])
      .where('person_id', '=', person.id)
      .execute()
    const byHand = rows.filter((row) => row.from_sign_on !== 1).map(({ id }) => id)
    const marked = new Map(rows.map((row) => [row.id, row] as const))
    const given = wanted.filter(({ group }) => !byHand.includes(group.id))
    const gone = rows.filter(
      ({ id }) => !byHand.includes(id) && !given.some(({ group }) => group.id === id),
    )
    for (const { id, name, role_id: roleId } of gone) {
      const place = { group: { id, name }, person }
      await tx
        .deleteFrom('group_members')
        .where('group_id', '=', id)
        .where('person_id', '=', person.id)
        .execute()
      await recordRole(store, tx, { ...place, before: roleName(roleId), after: null })
    }
    for (const { group, roleId } of given) {
      const before = marked.get(group.id)?.role_id
      if (before === roleId) continue
      const of = { group_id: group.id, person_id: person.id, role_id: roleId, from_sign_on: 1 }
      await tx
        .insertInto('group_members')
        .values({ ...of, created_at: store.clock.now() })
        .onConflict((on) => on.columns(['group_id', 'person_id']).doUpdateSet({ role_id: roleId }))
        .execute()
      const from = before === undefined ? null : roleName(before)
      await recordRole(store, tx, { group, person, before: from, after: roleName(roleId) })
    }
  })
}

type RoleChange = Pick<OneOfGroup, 'group' | 'person'> & {
  readonly before: string | null
  readonly after: string | null
}

function recordRole(
  store: Store,
  tx: Tx,
  { group, person, before, after }: RoleChange,
): Promise<void> {
  const of = (role: string | null) => (role === null ? null : { [person.email]: role })
  const action = after === null ? 'group.remove_member' : 'group.add_member'
  return recordChange(store, tx, {
    ...aboutGroup(action, group),
    before: of(before),
    after: of(after),
  })
}
