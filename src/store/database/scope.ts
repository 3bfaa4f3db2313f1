// What somebody may reach of the database: all of it, or only what belongs to groups of keys. It is part of the store that
// they are given, and every query of keys, groups, usage, refusals, alerts and the audit record takes it from there.
import { sql, type RawBuilder, type SqlBool } from 'kysely'

export type Scope = 'everywhere' | Confined

/** What is outside does not exist for those who are confined: it is not found, not listed and not counted. */
type Confined = {
  /** Everything of these groups. */
  readonly groupIds: readonly string[]
  /** Of these groups only the keys of this person, and what was done with them. */
  readonly own: { readonly personId: string; readonly groupIds: readonly string[] }
}

export const NOWHERE: Confined = { groupIds: [], own: { personId: '', groupIds: [] } }

type Column = RawBuilder<unknown>

/** The columns that decide: the group that a row belongs to, and its key. */
type Belonging = { readonly group: Column; readonly key: Column }

/** Whether a row is within reach; undefined = any is. */
export function isReached(
  scope: Scope,
  { group, key }: Belonging,
): RawBuilder<SqlBool> | undefined {
  if (scope === 'everywhere') return undefined
  const { groupIds, own } = scope
  if (own.groupIds.length === 0) return isOneOf(group, groupIds)
  return sql`(${isOneOf(group, groupIds)} OR (${isOneOf(group, own.groupIds)}
    AND ${key} IN (SELECT owned.id FROM keys AS owned WHERE owned.owner_person_id = ${own.personId})))`
}

/** The same for what a member may know of the group itself. */
export function isGroupReached(scope: Scope, group: Column): RawBuilder<SqlBool> | undefined {
  if (scope === 'everywhere') return undefined
  return isOneOf(group, [...scope.groupIds, ...scope.own.groupIds])
}

/** Whether keys of this group, or outside groups, can be reached at all. */
export function isGroupWithin(scope: Scope, groupId: string | null): boolean {
  if (scope === 'everywhere') return true
  return groupId !== null && [...scope.groupIds, ...scope.own.groupIds].includes(groupId)
}

/** Whether nothing but groups within reach is named; null = there is no bound, so that others are meant as well. */
export function areGroupsWithin(scope: Scope, groupIds: readonly string[] | null): boolean {
  if (scope === 'everywhere') return true
  return groupIds !== null && groupIds.every((id) => scope.groupIds.includes(id))
}

/** The person whose keys alone are reached in this group; undefined = all of its keys are. */
export function ownerWithin(scope: Scope, groupId: string | null): string | undefined {
  if (scope === 'everywhere' || groupId === null || scope.groupIds.includes(groupId))
    return undefined
  return scope.own.personId
}

/** What is found within a scope can be kept under this name. */
export function scopeName(scope: Scope): string {
  return JSON.stringify(scope)
}

/** PostgreSQL does not accept an empty list. */
function isOneOf(column: Column, values: readonly string[]): RawBuilder<SqlBool> {
  return values.length === 0 ? sql`1 = 0` : sql`${column} IN (${sql.join([...values])})`
}
