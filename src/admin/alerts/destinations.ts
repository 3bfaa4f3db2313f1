// The handlers of alert destinations: what there is, what each takes, and a sample to each.
import { sentence, type NamedSentence } from '../../core/sentences.ts'
import { iso } from '../../core/units.ts'
import { isForbiddenHost } from '../../providers/upstream/addresses.ts'
import type { Alert } from '../../store/alerts/alerts.ts'
import {
  addDestination,
  changeDestination,
  deleteDestination,
  findDestination,
  listDestinations,
  noteAttempt,
  shownAddress,
  type Destination,
  type DestinationChange,
} from '../../store/alerts/destinations.ts'
import { groupNames } from '../../store/groups/groups.ts'
import type { alertRoutes, DeliveryAnswer, DestinationAnswer } from '../contract/alerts.ts'
import { invalidValue } from '../contract/errors.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import type { Mailer } from '../people/email.ts'
import { failureOf, type AlertSender } from './sender.ts'

/** What alerts need beside the parts that all handlers get. */
export type AlertParts = AdminParts & {
  /** For sample alerts, and for the secrets that sign webhooks. */
  readonly alerts: AlertSender
  /** Undefined: no SMTP server is configured. */
  readonly mailer: Mailer | undefined
}

type DestinationRoute = Extract<keyof typeof alertRoutes, `${string}Destination${'s' | ''}`>

export function destinationHandlers(
  parts: AlertParts,
): Pick<HandlersOf<typeof alertRoutes>, DestinationRoute> {
  const { store, clock, alerts } = parts
  return {
    listDestinations: async (request) => {
      const within = storeOf(parts, request)
      const names = await groupNames(within)
      const found = await listDestinations(within)
      return {
        destinations: found.map((destination) => destinationAnswer(destination, names)),
        email_available: parts.mailer !== undefined,
      }
    },
    createDestination: async (request) => {
      const { kind, name } = request.body
      const names = await groupNames(store)
      const { address = '', ...settings } = settingsOf(request.body, names)
      const given = { ...settings, kind, name, address }
      const added = await addDestination(storeOf(parts, request), given)
      const secret = added.kind === 'webhook' ? alerts.secretOf(added.id) : null
      return { ...destinationAnswer(added, names), secret }
    },
    changeDestination: async (request) => {
      const { params, body } = request
      const names = await groupNames(store)
      const { kind } = await findDestination(store, params.id)
      const change = settingsOf({ kind, ...body }, names)
      const changed = await changeDestination(storeOf(parts, request), params.id, change)
      return destinationAnswer(changed, names)
    },
    deleteDestination: async (request) => {
      await deleteDestination(storeOf(parts, request), request.params.id)
      return { done: true }
    },
    testDestination: async ({ params }) => {
      const destination = await findDestination(store, params.id)
      try {
        const result = await alerts.send(destination, sample(destination, clock.now()))
        await noteAttempt(store, destination.id, undefined)
        return { delivered: true, result }
      } catch (thrown) {
        const failure = failureOf(thrown)
        await noteAttempt(store, destination.id, failure)
        if (typeof failure === 'string') return { delivered: false, result: failure }
        return { delivered: false, result: failure.text, ...reasonOf(failure) }
      }
    },
  }
}

type Given = {
  readonly kind: Destination['kind']
  readonly url?: string | undefined
  readonly to?: string | undefined
  readonly groups?: readonly string[] | null | undefined
} & Omit<DestinationChange, 'address' | 'groupIds'>

/** As the database has them. Throws invalid_value for a group that does not exist. */
function settingsOf(
  { kind, url, to, groups, ...same }: Given,
  names: ReadonlyMap<string, string>,
): DestinationChange {
  if (groups?.some((id) => !names.has(id)) === true) {
    throw invalidValue('groups', sentence('no_such_group'))
  }
  const [field, other] = kind === 'webhook' ? (['to', to] as const) : (['url', url] as const)
  if (other !== undefined) throw invalidValue(field, sentence('destination_kind'))
  if (url !== undefined) assertAllowed(new URL(url), 'url')
  return { ...same, address: url ?? to, groupIds: groups }
}

/** Private addresses are allowed, as many want them. A name that resolves to a forbidden address fails when called. */
export function assertAllowed({ hostname: host }: URL, field: string): void {
  if (isForbiddenHost(host)) throw invalidValue(field, sentence('webhook_metadata', { host }))
}

/** What a test sends: it cannot be mistaken for a real alert. */
function sample({ name }: Destination, now: number): Alert {
  return {
    id: 'alert_sample',
    at: now,
    accountId: 'key_sample',
    accountName: `sample for ${name} (this is a test)`,
    kind: 'budget',
    threshold: 80,
    spentNanodollars: 8_000_000_000n,
    limitNanodollars: 10_000_000_000n,
    resetsAt: null,
  }
}

function destinationAnswer(
  destination: Destination,
  names: ReadonlyMap<string, string>,
): DestinationAnswer {
  const { id, name, kind, enabled, taken, failing, createdAt } = destination
  const { groupIds, kinds, tags, environments } = taken
  return {
    ...{ id, name, kind, address: shownAddress(destination), enabled },
    kinds: kinds && [...kinds],
    groups: groupIds && groupIds.map((group) => ({ id: group, name: names.get(group) ?? group })),
    tags: tags && [...tags],
    environments: environments && [...environments],
    failing: failing && {
      since: iso(failing.since),
      result: failing.result ?? '',
      ...reasonOf(failing.failure),
    },
    created_at: iso(createdAt),
  }
}

/** By name, for programs that show it in another language. */
export function reasonOf(failure: NamedSentence | null): Pick<DeliveryAnswer, 'reason' | 'values'> {
  return failure === null ? {} : { reason: failure.name, values: { ...failure.values } }
}
