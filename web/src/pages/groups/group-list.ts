// Searches and sorts groups: the gateway sends all of them, because there are few. Pure.
import type { GroupAnswer } from '../../../../src/admin/contract/groups.ts'
import type { GroupSort, GroupsSearch } from '../../base/address.ts'

type Asked = Pick<GroupsSearch, 'search' | 'status'> & {
  readonly sort: GroupSort
  readonly order: 'asc' | 'desc'
}

/** By name where the sorted values are the same. */
export function foundGroups(
  groups: readonly GroupAnswer[],
  { search = '', status, sort, order }: Asked,
): readonly GroupAnswer[] {
  const words = search.toLocaleLowerCase()
  const isFound = (group: GroupAnswer) =>
    (status === undefined || group.status === status) &&
    [group.name, group.description ?? '', group.id].some((text) =>
      text.toLocaleLowerCase().includes(words),
    )
  const sign = order === 'asc' ? 1 : -1
  const byName = (one: GroupAnswer, other: GroupAnswer) => one.name.localeCompare(other.name)
  const by = (one: GroupAnswer, other: GroupAnswer) =>
    sort === 'name' ? byName(one, other) : valueOf(one, sort) - valueOf(other, sort)
  return groups
    .filter(isFound)
    .toSorted((one, other) => sign * by(one, other) || byName(one, other))
}

/** As a float, which only decides the order. A group without a limit has used nothing of it. */
function valueOf(group: GroupAnswer, sort: Exclude<GroupSort, 'name'>): number {
  switch (sort) {
    case 'status':
      return group.status === 'active' ? 0 : 1
    case 'percent':
      return group.limit === null ? -1 : Number(group.spent) / Math.max(Number(group.limit), 1e-9)
    case 'keys':
      return group.keys
    case 'members':
      return group.members
  }
}
