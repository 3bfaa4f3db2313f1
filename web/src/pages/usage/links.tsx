// Where the names and sums of a report lead: to the key or the group, to the requests behind a figure, or to the same
// report of one owner, environment, tag, provider or endpoint.
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { OUTSIDE_GROUPS, usageSearch } from '../../base/address.ts'
import type { Group, RequestsSearch, UsageFilters } from '../../base/address.ts'
import { useSession } from '../../base/session.ts'

type Grouped = {
  readonly group: Group
  readonly nameOf: (id: string) => string
  /** What the report is limited to. */
  readonly filters: UsageFilters
}

/** How the groups of a report are shown. */
export function useGroupCell({ group, nameOf, filters }: Grouped) {
  const { may } = useSession()
  const { range, from, to } = useSearch({ strict: false })
  return (id: string): ReactNode => {
    const name = nameOf(id)
    if (group === 'key' && may('configuration:read'))
      return (
        <Link to="/settings/api-access/$id" params={{ id }}>
          {name}
        </Link>
      )
    if (group === 'group' && id !== OUTSIDE_GROUPS && may('configuration:read'))
      return (
        <Link to="/settings/groups/$id" params={{ id }}>
          {name}
        </Link>
      )
    if (group === 'model' && id !== '' && may('requests:read'))
      return (
        <Link to="/settings/requests" search={{ model: id }}>
          {name}
        </Link>
      )
    if (!drilled.includes(group) || id === '') return name
    return (
      <Link
        to="/settings/usage"
        search={usageSearch.parse({ range, from, to, ...filters, by: 'key', [group]: id })}
      >
        {name}
      </Link>
    )
  }
}

const drilled: readonly Group[] = ['owner', 'environment', 'tag', 'provider', 'endpoint']

const outcomes = { requests: undefined, failed: 'failed', refused: 'refused' } as const

/** The requests behind a sum; undefined for sums that no list of requests adds up to. */
export function requestsBehind(
  metric: string,
  { key, model, group }: UsageFilters,
  since: string,
): RequestsSearch | undefined {
  if (!(metric in outcomes)) return undefined
  const outcome = outcomes[metric as keyof typeof outcomes]
  const from = new Date(since).toLocaleDateString('sv')
  return { outcome, from, key, ...(outcome === 'refused' ? { group } : { model }) }
}
