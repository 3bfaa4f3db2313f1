// A manifest: groups, keys, alert destinations and the frame as a file has them, for `tollgate apply` and `tollgate
// export`. Reading one puts its values into the form that an export gives them, so that the two can be compared.
import { z } from 'zod'
import { ENDPOINTS } from '../../core/endpoints.ts'
import {
  ALERT_KINDS,
  KEY_MODES,
  MODEL_BUDGETS_MAX,
  MODELS_MAX,
  NAME_LENGTH_MAX,
  RATE_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
  WHEN_TIGHT,
} from '../../core/limits.ts'
import { formatUsd, parseBudget } from '../../core/money.ts'
import { PERIODS, timezoneOf } from '../../core/periods.ts'
import { label as clean } from '../../core/text.ts'
import { iso, momentOf } from '../../core/units.ts'
import { reminders, thresholds, webhookUrl } from './alerts.ts'
import { fieldChange } from './errors.ts'
import { route } from './route.ts'
import { amount, period, storable, weekStart } from './values.ts'

/** `none`, as on the command line, and an empty text say the same as nothing after the colon. */
const orNone = <Value>(value: z.ZodType<Value>) =>
  z.preprocess((given) => (given === 'none' || given === '' ? null : given), value.nullable())

const label = storable(NAME_LENGTH_MAX).overwrite(clean)
const rate = orNone(z.int().min(1).max(RATE_MAX))
const names = (most: number) => z.array(label).max(most).overwrite(sorted)

function sorted(texts: string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '').toSorted()
}

/** What is too large is left to be refused by the rules of budgets. */
function canonical(text: string): string {
  try {
    return formatUsd(parseBudget(text))
  } catch {
    return text
  }
}

/** YAML has numbers, and 0.1 is written as it was read. */
const money = z.preprocess(
  (given) => (typeof given === 'number' ? String(given) : given),
  amount.overwrite(canonical),
)

const PER_PERIOD = new RegExp(String.raw`^(\d{1,16}(?:\.\d{1,9})?)/(${PERIODS.join('|')})$`)

const perPeriod = z
  .string()
  .regex(PER_PERIOD, 'enter an amount and a period, such as 5/day')
  .overwrite((text) =>
    text.replace(PER_PERIOD, (_, usd: string, each) => `${canonical(usd)}/${each}`),
  )

const moment = z
  .string()
  .refine(
    (text) => /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) && momentOf(text) !== undefined,
    'enter a date and time such as 2027-01-31T00:00:00Z',
  )
  .overwrite((text) => iso(Date.parse(text)))

const rules = {
  budget: orNone(money),
  period,
  timezone: z.string().overwrite((zone) => timezoneOf(zone) ?? zone),
  week_start: weekStart,
  window: orNone(perPeriod),
}

const limits = { request_cost_max: orNone(money), rpm: rate, tpm: rate, concurrency: rate }

const description = orNone(storable(TEXT_LENGTH_MAX).overwrite((text) => text.trim()))

const frameEntry = z.strictObject({ ...rules, budget: money }).partial()

const keyRules = z
  .strictObject({
    self_service: z.boolean(),
    budget_max: orNone(perPeriod),
    days_max: rate,
    keys_max: rate,
    environments: orNone(z.array(label)),
    rpm_max: rate,
    tpm_max: rate,
    concurrency_max: rate,
  })
  .partial()

const name = label.min(1)

const groupEntry = z
  .strictObject({
    name,
    description,
    status: z.enum(['active', 'archived']),
    ...rules,
    ...limits,
    models: orNone(names(MODELS_MAX)),
    key_rules: keyRules,
  })
  .partial()
  .required({ name: true })

const keyEntry = z
  .strictObject({
    name,
    /** The name of its group, which is a part of what it is called. */
    group: orNone(label),
    mode: z.enum(KEY_MODES),
    status: z.enum(['active', 'paused']),
    models: names(MODELS_MAX),
    ...rules,
    ...limits,
    model_budgets: z
      .record(label, perPeriod)
      .refine((caps) => Object.keys(caps).length <= MODEL_BUDGETS_MAX)
      .overwrite((caps) => Object.fromEntries(byModel(caps))),
    permissions: z
      .array(z.enum(ENDPOINTS))
      .overwrite((given) => ENDPOINTS.filter((endpoint) => given.includes(endpoint))),
    environment: orNone(label),
    owner: orNone(label),
    /** An e-mail address. */
    owner_person: orNone(z.string()),
    description,
    tags: z.array(label).max(TAGS_MAX),
    expires_at: orNone(moment),
    when_tight: z.enum(WHEN_TIGHT),
    alert_thresholds: thresholds.overwrite((given) => given.toSorted((a, b) => a - b)),
    expiry_reminders: reminders.overwrite((given) => given.toSorted((a, b) => b - a)),
  })
  .partial()
  .required({ name: true })

function byModel(caps: Readonly<Record<string, string>>) {
  return Object.entries(caps).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** What an export writes in place of the rest of a webhook: whoever knows that can post there. */
export const HIDDEN = '…'

const webhook = z
  .string()
  .refine(
    (text) => text.includes(HIDDEN) || webhookUrl.safeParse(text).success,
    'enter a URL that begins with https:// or http://, without a user name and password',
  )

const GROUPS_MAX = 1_000

const some = <Item extends z.ZodType<string>>(item: Item, most: number) =>
  orNone(
    z
      .array(item)
      .min(1, 'name at least one, or write none to take all')
      .max(most)
      .overwrite((given) => [...new Set(given)].toSorted()),
  )

const destinationEntry = z
  .strictObject({
    name,
    webhook,
    email: z.email(),
    enabled: z.boolean(),
    /** What it takes; none = all. */
    kinds: some(z.enum(ALERT_KINDS), ALERT_KINDS.length),
    /** By their names. */
    groups: some(label, GROUPS_MAX),
    tags: some(label, TAGS_MAX),
    environments: some(label, TAGS_MAX),
  })
  .partial()
  .required({ name: true })

const ENTRIES_MAX = 20_000

/** What is not in it is left as it is. */
export const manifest = z
  .strictObject({
    frame: frameEntry,
    groups: z.array(groupEntry).max(ENTRIES_MAX),
    keys: z.array(keyEntry).max(ENTRIES_MAX),
    destinations: z.array(destinationEntry).max(ENTRIES_MAX),
  })
  .partial()
  .superRefine(({ groups = [], keys = [], destinations = [] }, context) => {
    const refuseTwice = (list: string, fullNames: readonly string[]): void => {
      const seen = new Set<string>()
      for (const [index, each] of fullNames.entries()) {
        if (seen.has(each)) {
          const message = 'two entries have this name: give each its own'
          context.addIssue({ code: 'custom', path: [list, index, 'name'], message })
        }
        seen.add(each)
      }
    }
    refuseTwice(
      'groups',
      groups.map((group) => group.name),
    )
    refuseTwice('keys', keys.map(fullNameOf))
    refuseTwice(
      'destinations',
      destinations.map((destination) => destination.name),
    )
  })

/** By which a key is known: GROUP/NAME, or NAME alone outside groups. */
export function fullNameOf({ name: own, group }: Pick<KeyEntry, 'name' | 'group'>): string {
  return group === undefined || group === null ? own : `${group}/${own}`
}

const planStep = z.object({
  action: z.enum(['create', 'change', 'pause']),
  subject: z.enum(['frame', 'group', 'key', 'destination']),
  name: z.string(),
  fields: z.array(fieldChange),
})

const plan = z.object({
  steps: z.array(planStep),
  /** How many entries of the manifest are as they should be. */
  unchanged: z.int(),
  /** Names this plan: what was shown can be applied, and nothing else. */
  digest: z.string(),
  /** What secrets of new keys begin with. */
  secret_prefix: z.string(),
  applied: z.boolean(),
  /** What signs the webhooks that were made, in this answer only. */
  signing_secrets: z.array(z.object({ name: z.string(), secret: z.string() })),
})

/** A manifest of some thousand keys. */
const MANIFEST_BYTES_MAX = 8 * 2 ** 20

export const manifestRoutes = {
  applyManifest: route('POST /apply', 'configuration:manage', {
    reach: 'everywhere',
    summary: 'Bring groups, keys, destinations and the frame to what a manifest says, at once',
    body: z.strictObject({
      manifest,
      /** Pauses keys that were made this way and are no longer in the manifest. */
      prune: z.boolean().default(false),
      /** Only says what would be done. */
      dry_run: z.boolean().default(false),
      /** Of the plan that was looked at: refused when it would now be another. */
      digest: z.string().optional(),
      /** Of each new key, in the order of the plan: the caller makes its secret and keeps it. */
      secrets: z
        .array(z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/), masked: label }))
        .default([]),
    }),
    answer: plan,
    bodyBytesMax: MANIFEST_BYTES_MAX,
  }),
  exportManifest: route('GET /export', 'configuration:read', {
    reach: 'everywhere',
    summary: 'Groups, keys, destinations and the frame as a manifest, without secrets',
    answer: z.object({
      frame: z.record(z.string(), z.unknown()),
      groups: z.array(z.record(z.string(), z.unknown())),
      keys: z.array(z.record(z.string(), z.unknown())),
      destinations: z.array(z.record(z.string(), z.unknown())),
    }),
  }),
}

export type Manifest = z.output<typeof manifest>
export type FrameEntry = z.output<typeof frameEntry>
export type GroupEntry = z.output<typeof groupEntry>
export type KeyEntry = z.output<typeof keyEntry>
export type DestinationEntry = z.output<typeof destinationEntry>
export type PlanStep = z.output<typeof planStep>
export type PlanAnswer = z.output<typeof plan>
export type NewSecret = { readonly hash: string; readonly masked: string }
