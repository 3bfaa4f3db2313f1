// What was used in a span, summed by what is asked for.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import { call } from '../../api.ts'
import type { Span } from '../../usage/usage-figures.ts'

const rowsMax = 10_000

export const usageQuery = ({ since, until }: Span, by: string) =>
  queryOptions({
    queryKey: ['usage', since, until, by],
    queryFn: ({ signal }) =>
      call(usageRoutes.readUsage, { query: { since, until, by, limit: rowsMax }, signal }),
    placeholderData: keepPreviousData,
  })
