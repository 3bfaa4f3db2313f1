// Whom alerts reach, when they are sent, and what was sent.
import { queryOptions } from '@tanstack/react-query'
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../api.ts'

export const destinationsQuery = queryOptions({
  queryKey: ['alerts', 'destinations'],
  queryFn: ({ signal }) => call(alertRoutes.listDestinations, { signal }),
})

/** Of a key, or of the frame. */
export const ruleQuery = (key: string | undefined) =>
  queryOptions({
    queryKey: ['alerts', 'rule', key],
    queryFn: ({ signal }) =>
      key === undefined
        ? call(alertRoutes.readFrameAlerts, { signal })
        : call(alertRoutes.readKeyAlerts, { params: { id: key }, signal }),
  })

/** What a change makes old: the thresholds of a key are also among its settings. */
export const madeOldByAlerts = [['alerts'], ['audit'], ['keys']] as const
