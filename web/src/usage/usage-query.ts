// What was used in a span, summed by what is asked for.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { usageRoutes } from '../../../src/admin/contract/usage.ts'
import { call } from '../api.ts'
import type { Span } from './usage-figures.ts'

const rowsMax = 10_000

export type UsageAsked = {
  readonly span: Span
  readonly by: string
  /** Of one key alone. */
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
