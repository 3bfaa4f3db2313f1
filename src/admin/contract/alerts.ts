// Alerts: their thresholds, destinations and deliveries.
import { z } from 'zod'
import {
  ALERT_KINDS,
  NAME_LENGTH_MAX,
  REMINDER_DAYS_MAX,
  REMINDERS_MAX,
  TAGS_MAX,
  THRESHOLD_MAX,
  THRESHOLDS_MAX,
} from '../../core/limits.ts'
import { byName } from './errors.ts'
import { route } from './route.ts'
import { amount, done, givenName, groupId, moment, page, withoutNul } from './values.ts'

/** Percent of the limit. */
export const thresholds = z.array(z.int().min(1).max(THRESHOLD_MAX)).max(THRESHOLDS_MAX)

/** Days before a key expires. */
export const reminders = z.array(z.int().min(1).max(REMINDER_DAYS_MAX)).max(REMINDERS_MAX)

const URL_LENGTH_MAX = 2_000

function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

export const webhookUrl = withoutNul(
  z
    .url({ protocol: /^https?$/, error: 'enter a URL that begins with https:// or http://' })
    .max(URL_LENGTH_MAX),
).refine(
  (text) => !hasCredentials(text),
  'enter the URL without a user name and password: they are not sent',
)

/** A list of what is taken; null = whatever there is. */
const some = <Item extends z.ZodType>(item: Item, most: number) =>
  z.array(item).min(1, 'name at least one, or leave it out to take all').max(most).nullable()

const GROUPS_MAX = 1_000
const label = givenName(NAME_LENGTH_MAX)

/** What a destination takes: everything that is named must fit. What concerns no group goes to none that names some. */
const taken = {
  kinds: some(z.enum(ALERT_KINDS), ALERT_KINDS.length),
  groups: some(groupId, GROUPS_MAX),
  tags: some(label, TAGS_MAX),
  environments: some(label, TAGS_MAX),
}
const { shape: takenOfNew } = z.strictObject(taken).partial()

const webhook = z.strictObject({
  kind: z.literal('webhook'),
  name: label,
  url: webhookUrl,
  ...takenOfNew,
})
const email = z.strictObject({
  kind: z.literal('email'),
  name: label,
  to: z.email(),
  ...takenOfNew,
})
const newDestination = z.discriminatedUnion('kind', [webhook, email])

const destinationChange = z
  .strictObject({ name: label, enabled: z.boolean(), ...taken, url: webhookUrl, to: z.email() })
  .partial()

const destination = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['webhook', 'email']),
  /** For a webhook: the scheme, the host and the end of a long rest: https://hooks.example.com/…x7Qd */
  address: z.string(),
  enabled: z.boolean(),
  ...taken,
  groups: z.array(z.object({ id: z.string(), name: z.string() })).nullable(),
  /** Null: what was sent last has arrived, samples included. */
  failing: z.object({ since: moment, result: z.string(), ...byName }).nullable(),
  created_at: moment,
})

/** With the secret that signs a webhook, shown in this answer only. */
const newDestinationAnswer = destination.extend({ secret: z.string().nullable() })

const given = { id: z.string(), at: moment }

const spending = {
  ...given,
  scope: z.enum(['key', 'group', 'frame']),
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  group: z.object({ id: z.string(), name: z.string() }).nullable(),
  spent: amount,
  limit: amount,
  resets_at: moment.nullable(),
}

/** A threshold of a budget was reached. */
const budgetAlert = z.object({ ...spending, kind: z.literal('budget'), threshold: z.int() })

/** Calls are refused because the rest of a budget does not cover them; `required` = the most the first could cost. */
const refusedAlert = z.object({
  ...spending,
  kind: z.literal('refused'),
  required: amount.nullable(),
})

/** Many calls were refused within an hour, all with this code: those of a key, or those whose key is unknown. */
const refusalsAlert = z.object({
  ...given,
  kind: z.literal('refusals'),
  scope: z.enum(['key', 'unknown_keys']),
  key: z.string().nullable(),
  key_name: z.string().nullable(),
  code: z.string(),
  count: z.int(),
})

/** A key will expire. */
const expiryAlert = z.object({
  ...given,
  kind: z.literal('expiry'),
  scope: z.literal('key'),
  key: z.string(),
  key_name: z.string().nullable(),
  days_before: z.int(),
  expires_at: moment,
})

/** The owner of a key asks for more. */
const wishAlert = z.object({
  ...given,
  kind: z.literal('wish'),
  scope: z.literal('key'),
  key: z.string(),
  key_name: z.string().nullable(),
  /** An e-mail address. */
  person: z.string(),
  wanted: z.object({
    budget: amount.optional(),
    models: z.array(z.string()).optional(),
    expires_at: moment.optional(),
  }),
  reason: z.string(),
})

/** A provider has failed calls for half a minute, or answers them again. */
const outageAlert = z.object({
  ...given,
  kind: z.literal('outage'),
  scope: z.literal('provider'),
  provider: z.string(),
  /** The target that failed, and with what. */
  target: z.string(),
  reason: z.string(),
  since: moment,
  ended_at: moment.nullable(),
})

/** The ledger has raised an alarm: the log has it as `ledger_alarm`. */
const ledgerAlert = z.object({
  ...given,
  kind: z.literal('ledger'),
  scope: z.literal('ledger'),
  message: z.string(),
})

/** Somebody who owns keys no longer signs in; `keys` names some of them. */
const inactiveAlert = z.object({
  ...given,
  kind: z.literal('inactive'),
  scope: z.literal('person'),
  /** An e-mail address. */
  person: z.string(),
  last_seen_at: moment,
  keys: z.array(z.string()),
  count: z.int(),
})

const alert = z.discriminatedUnion('kind', [
  budgetAlert,
  refusedAlert,
  refusalsAlert,
  expiryAlert,
  wishAlert,
  outageAlert,
  ledgerAlert,
  inactiveAlert,
])

const delivery = z.object({
  id: z.string(),
  alert,
  destination: z.string(),
  /** Null: it is gone, or is not yours to see. */
  destination_name: z.string().nullable(),
  address: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.int(),
  last_attempt_at: moment.nullable(),
  next_attempt_at: moment.nullable(),
  /** The result of the last attempt: a status, or what went wrong, then also by name. */
  result: z.string().nullable(),
  ...byName,
})

/** The thresholds of a key or of the frame; `own` = not the usual ones. */
export const alertRule = z.object({
  thresholds,
  own: z.boolean(),
  /** The latest ones. */
  alerts: z.array(alert),
})

/** Null: the usual ones. An empty list: none. */
const ruleBody = z.strictObject({ thresholds: thresholds.nullable() })

export const alertRoutes = {
  listDestinations: route('GET /alerts/destinations', 'configuration:read', {
    reach: 'groups',
    summary: 'Who gets alerts; within groups, what gets alerts of these alone',
    answer: z.object({
      destinations: z.array(destination),
      /** Whether an SMTP server is configured. */
      email_available: z.boolean(),
    }),
  }),
  createDestination: route('POST /alerts/destinations', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Add a webhook or an e-mail address',
    body: newDestination,
    answer: newDestinationAnswer,
    status: 201,
    idempotent: true,
  }),
  changeDestination: route('PATCH /alerts/destinations/:id', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Rename a destination, switch it on or off, choose what it takes or where it is',
    body: destinationChange,
    answer: destination,
  }),
  deleteDestination: route('DELETE /alerts/destinations/:id', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Remove a destination',
    answer: done,
  }),
  testDestination: route('POST /alerts/destinations/:id/test', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Send a sample there now',
    answer: z.object({ delivered: z.boolean(), result: z.string(), ...byName }),
  }),
  listDeliveries: route('GET /alerts/deliveries', 'configuration:read', {
    reach: 'groups',
    summary: 'What was sent, newest first',
    query: z.object(page),
    answer: z.object({ deliveries: z.array(delivery), next: z.string().nullable() }),
  }),
  readKeyAlerts: route('GET /keys/:id/alerts', 'configuration:read', {
    reach: 'own',
    summary: 'When a key sends alerts',
    answer: alertRule,
  }),
  changeKeyAlerts: route('PUT /keys/:id/alerts', 'configuration:manage', {
    reach: 'own',
    summary: 'Set when a key sends alerts',
    body: ruleBody,
    answer: alertRule,
  }),
  readFrameAlerts: route('GET /frame/alerts', 'configuration:read', {
    reach: 'everywhere',
    summary: 'When the frame sends alerts',
    answer: alertRule,
  }),
  changeFrameAlerts: route('PUT /frame/alerts', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Set when the frame sends alerts',
    body: ruleBody,
    answer: alertRule,
  }),
}

export type DestinationAnswer = z.output<typeof destination>
export type AlertAnswer = z.output<typeof alert>
export type DeliveryAnswer = z.output<typeof delivery>
