// Queries for alert destinations, rules and deliveries.
import { queryOptions } from '@tanstack/react-query'
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../api.ts'

export const destinationsQuery = queryOptions({
  queryKey: ['alerts', 'destinations'],
  queryFn: ({ signal }) => call(alertRoutes.listDestinations, { signal }),
})

/** The rule of a key, or of the frame if `key` is undefined. */
export const ruleQuery = (key: string | undefined) =>
  queryOptions({
    queryKey: ['alerts', 'rule', key],
    queryFn: ({ signal }) =>
      key === undefined
        ? call(alertRoutes.readFrameAlerts, { signal })
        : call(alertRoutes.readKeyAlerts, { params: { id: key }, signal }),
  })

/** Queries that a change makes stale; a key's thresholds are also among its settings. */
export const madeOldByAlerts = [['alerts'], ['audit'], ['keys']] as const
