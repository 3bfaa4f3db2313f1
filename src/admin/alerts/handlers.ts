// The handlers of alerts: their thresholds, their destinations, and their deliveries.
import { messageOf } from '../../core/errors.ts'
import { isGroupId } from '../../core/ids.ts'
import { USUAL_THRESHOLDS } from '../../core/limits.ts'
import { sentence, type NamedSentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import { isForbiddenHost } from '../../providers/upstream/addresses.ts'
import { lastAlerts, listDeliveries, type Alert, type Delivery } from '../../store/alerts/alerts.ts'
import {
  addDestination,
  deleteDestination,
  findDestination,
  listDestinations,
  shownAddress,
  switchDestination,
  type Destination,
} from '../../store/alerts/destinations.ts'
import { readAlertRules, setFrameThresholds } from '../../store/alerts/rules.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { findKey } from '../../store/keys/keys.ts'
import { updateKey } from '../../store/keys/lifecycle.ts'
import { NO_KEY } from '../../store/refusals.ts'
import type {
  AlertAnswer,
  alertRoutes,
  DeliveryAnswer,
  DestinationAnswer,
} from '../contract/alerts.ts'
import { invalidValue } from '../contract/errors.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import type { Mailer } from '../people/email.ts'
import { DeliveryFailure, spendingJson, type AlertSender } from './sender.ts'

/** What alerts need beside the parts that all handlers get. */
export type AlertParts = AdminParts & {
  /** For sample alerts, and for the secrets that sign webhooks. */
  readonly alerts: AlertSender
  /** Undefined: no SMTP server is configured. */
  readonly mailer: Mailer | undefined
}

export function alertHandlers(parts: AlertParts): HandlersOf<typeof alertRoutes> {
  const { store, clock, alerts } = parts

  async function ruleOf(store: Store, accountId: string) {
    const own = (await readAlertRules(store, accountId)).get(accountId)
    return {
      thresholds: [...(own ?? USUAL_THRESHOLDS)],
      own: own !== undefined,
      alerts: (await lastAlerts(store, accountId)).map(alertAnswer),
    }
  }

  return {
    listDestinations: async () => ({
      destinations: (await listDestinations(store)).map(destinationAnswer),
      email_available: parts.mailer !== undefined,
    }),
    createDestination: async (request) => {
      const { body } = request
      if (body.kind === 'webhook') assertAllowed(new URL(body.url))
      const address = body.kind === 'webhook' ? body.url : body.to
      const added = await addDestination(storeOf(parts, request), { kind: body.kind, address })
      const secret = added.kind === 'webhook' ? alerts.secretOf(added.id) : null
      return { ...destinationAnswer(added), secret }
    },
    changeDestination: async (request) => {
      const { params, body } = request
      const changed = await switchDestination(storeOf(parts, request), params.id, body.enabled)
      return destinationAnswer(changed)
    },
    deleteDestination: async (request) => {
      await deleteDestination(storeOf(parts, request), request.params.id)
      return { done: true }
    },
    testDestination: async ({ params }) => {
      const destination = await findDestination(store, params.id)
      try {
        return { delivered: true, result: await alerts.send(destination, sample(clock.now())) }
      } catch (thrown) {
        const failure = thrown instanceof DeliveryFailure ? thrown.sentence : null
        return { delivered: false, result: messageOf(thrown), ...reasonOf(failure) }
      }
    },
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

/** Private addresses are allowed, as many want them. A name that resolves to a forbidden address fails when called. */
function assertAllowed({ hostname: host }: URL): void {
  if (isForbiddenHost(host)) throw invalidValue('url', sentence('webhook_metadata', { host }))
}

/** What a test sends: it cannot be mistaken for a real alert. */
function sample(now: number): Alert {
  return {
    id: 'alert_sample',
    at: now,
    accountId: 'key_sample',
    accountName: 'sample (this is a test)',
    kind: 'budget',
    threshold: 80,
    spentNanodollars: 8_000_000_000n,
    limitNanodollars: 10_000_000_000n,
    resetsAt: null,
  }
}

function destinationAnswer(destination: Destination): DestinationAnswer {
  const { id, kind, enabled, createdAt } = destination
  return { id, kind, address: shownAddress(destination), enabled, created_at: iso(createdAt) }
}

function alertAnswer(alert: Alert): AlertAnswer {
  const given = { id: alert.id, at: iso(alert.at), key_name: alert.accountName }
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
  const { alert, destinationId, lastAttemptAt, nextAttemptAt, failure, ...same } = delivery
  return {
    ...same,
    alert: alertAnswer(alert),
    destination: destinationId,
    last_attempt_at: iso(lastAttemptAt),
    next_attempt_at: iso(nextAttemptAt),
    ...reasonOf(failure),
  }
}

function reasonOf(failure: NamedSentence | null): Pick<DeliveryAnswer, 'reason' | 'values'> {
  return failure === null ? {} : { reason: failure.name, values: { ...failure.values } }
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
