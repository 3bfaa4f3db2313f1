// Usage within a time span, summed by the chosen groups.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { usageRoutes } from '../../../src/admin/contract/usage.ts'
import { call } from '../api.ts'
import type { Span } from './usage-search.ts'

const rowsMax = 10_000

export type UsageAsked = {
  readonly span: Span
  readonly by: string
  /** Limits usage to one key. */
  readonly keyId?: string | undefined
  readonly compare?: boolean | undefined
}

export const usageQuery = ({ span: { since, until }, by, keyId, compare }: UsageAsked) =>
  queryOptions({
    queryKey: ['usage', since, until, by, keyId, compare],
    queryFn: ({ signal }) =>
      call(usageRoutes.readUsage, {
        query: {
          ...{ since, until, by, key: keyId, limit: rowsMax },
          compare: compare ? 'previous' : undefined,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
