// The handlers of alerts: their thresholds and their deliveries; destinations.ts has those of destinations.
import { isGroupId } from '../../core/ids.ts'
import { USUAL_THRESHOLDS } from '../../core/limits.ts'
import { iso, usd } from '../../core/units.ts'
import { lastAlerts, listDeliveries, type Alert, type Delivery } from '../../store/alerts/alerts.ts'
import { readAlertRules, setFrameThresholds } from '../../store/alerts/rules.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { findKey } from '../../store/keys/keys.ts'
import { updateKey } from '../../store/keys/lifecycle.ts'
import { NO_KEY } from '../../store/refusals.ts'
import type { AlertAnswer, alertRoutes, DeliveryAnswer } from '../contract/alerts.ts'
import { storeOf, type HandlersOf } from '../http/request.ts'
import { destinationHandlers, reasonOf, type AlertParts } from './destinations.ts'
import { spendingJson } from './sender.ts'

export function alertHandlers(parts: AlertParts): HandlersOf<typeof alertRoutes> {
  const { store } = parts

  async function ruleOf(store: Store, accountId: string) {
    const own = (await readAlertRules(store, accountId)).get(accountId)
    return {
      thresholds: [...(own ?? USUAL_THRESHOLDS)],
      own: own !== undefined,
      alerts: (await lastAlerts(store, accountId)).map(alertAnswer),
    }
  }

  return {
    ...destinationHandlers(parts),
    listDeliveries: async (request) => {
      const { query } = request
      const found = await listDeliveries(storeOf(parts, request), query)
      const next = found.length < query.limit ? null : (found.at(-1)?.id ?? null)
      return { deliveries: found.map(deliveryAnswer), next }
    },
    readKeyAlerts: async (request) => {
      const within = storeOf(parts, request)
      return ruleOf(within, (await findKey(within, request.params.id)).id)
    },
    changeKeyAlerts: async (request) => {
      const alertThresholds = request.body.thresholds ?? USUAL_THRESHOLDS
      const within = storeOf(parts, request)
      const { id } = await updateKey(within, request.params.id, { alertThresholds })
      return ruleOf(within, id)
    },
    readFrameAlerts: () => ruleOf(store, FRAME_ID),
    changeFrameAlerts: async (request) => {
      const thresholds = request.body.thresholds ?? USUAL_THRESHOLDS
      await setFrameThresholds(storeOf(parts, request), thresholds)
      return ruleOf(store, FRAME_ID)
    },
  }
}

function alertAnswer(alert: Alert): AlertAnswer {
  const when = { id: alert.id, at: iso(alert.at) }
  const given = { ...when, key_name: alert.accountName }
  if (alert.kind === 'outage') {
    const { kind, provider, target, reason, since, endedAt } = alert
    const times = { since: iso(since), ended_at: iso(endedAt) }
    return { ...when, kind, scope: 'provider', provider, target, reason, ...times }
  }
  if (alert.kind === 'ledger') {
    return { ...when, kind: 'ledger', scope: 'ledger', message: alert.message }
  }
  if (alert.kind === 'inactive') {
    const { kind, person, lastSeenAt, keys, count } = alert
    const last_seen_at = iso(lastSeenAt)
    return { ...when, kind, scope: 'person', person, last_seen_at, keys: [...keys], count }
  }
  if (alert.kind === 'wish') {
    const { kind, accountId: key, askedBy: person, wanted, reason } = alert
    const asked = { ...wanted, models: wanted.models && [...wanted.models] }
    return { ...given, kind, scope: 'key', key, person, wanted: asked, reason }
  }
  if (alert.kind === 'expiry') {
    const { accountId: key, daysBefore: days_before, expiresAt } = alert
    const expires_at = iso(expiresAt)
    return { ...given, kind: 'expiry', scope: 'key', key, days_before, expires_at }
  }
  if (alert.kind === 'refusals') {
    const { code, count } = alert
    return { ...given, kind: 'refusals', ...refusedKey(alert), code, count }
  }
  const about = { ...given, ...payerOf(alert), ...spendingJson(alert) }
  if (alert.kind === 'refused') {
    return { ...about, kind: 'refused', required: usd(alert.requiredNanodollars) }
  }
  return { ...about, kind: 'budget', threshold: alert.threshold }
}

function deliveryAnswer(delivery: Delivery): DeliveryAnswer {
  const { alert, destinationId, destinationName, lastAttemptAt, nextAttemptAt, ...rest } = delivery
  const { failure, ...same } = rest
  return {
    ...same,
    alert: alertAnswer(alert),
    destination: destinationId,
    destination_name: destinationName,
    last_attempt_at: iso(lastAttemptAt),
    next_attempt_at: iso(nextAttemptAt),
    ...reasonOf(failure),
  }
}

/** Whose budget it is. */
function payerOf({ accountId: id, accountName: name }: Alert) {
  if (id === FRAME_ID) return { scope: 'frame', key: null, group: null } as const
  if (!isGroupId(id)) return { scope: 'key', key: id, group: null } as const
  return { scope: 'group', key: null, key_name: null, group: { id, name: name ?? id } } as const
}

/** Whose calls were refused. */
function refusedKey({ accountId }: Alert) {
  return accountId === NO_KEY
    ? { scope: 'unknown_keys' as const, key: null }
    : { scope: 'key' as const, key: accountId }
}
