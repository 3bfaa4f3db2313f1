// Which alerts a destination takes: all of them, or those of some kinds, groups, tags and environments.
import type { AlertKind } from '../../core/limits.ts'
import { caseFold } from '../../core/text.ts'

/** What a destination takes; null = whatever there is. Everything that it names must fit. */
export type Taken = {
  readonly kinds: readonly AlertKind[] | null
  readonly groupIds: readonly string[] | null
  readonly tags: readonly string[] | null
  readonly environments: readonly string[] | null
}

export const TAKES_ALL: Taken = { kinds: null, groupIds: null, tags: null, environments: null }

/** What an alert is about. Of a group only the group is known; of the gateway as a whole, nothing. */
export type Concerned = {
  readonly kind: AlertKind
  readonly groupId: string | null
  readonly tags: readonly string[]
  readonly environment: string | null
}

/** What concerns no group goes to no destination that names some: one group learns nothing of another, or of all. */
export function isTaken(taken: Taken, about: Concerned): boolean {
  return (
    isAmong(taken.kinds, [about.kind]) &&
    isAmong(taken.groupIds, [about.groupId]) &&
    isAmong(taken.tags, about.tags) &&
    isAmong(taken.environments, [about.environment])
  )
}

/** Whether one of these is wanted, however it is spelled: a search for keys compares them in the same way. */
function isAmong(wanted: readonly string[] | null, found: readonly (string | null)[]): boolean {
  if (wanted === null) return true
  const folded = wanted.map(caseFold)
  return found.some((each) => each !== null && folded.includes(caseFold(each)))
}

type Stored = Readonly<Record<'kinds' | 'group_ids' | 'tags' | 'environments', string | null>>

export function readTaken(row: Stored): Taken {
  return {
    kinds: listOf(row.kinds) as readonly AlertKind[] | null,
    groupIds: listOf(row.group_ids),
    tags: listOf(row.tags),
    environments: listOf(row.environments),
  }
}

export function storedTaken({ kinds, groupIds, tags, environments }: Taken): Stored {
  return {
    kinds: textOf(kinds),
    group_ids: textOf(groupIds),
    tags: textOf(tags),
    environments: textOf(environments),
  }
}

function listOf(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as readonly string[])
}

function textOf(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}
