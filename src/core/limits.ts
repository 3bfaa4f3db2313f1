// What may be chosen for keys, alerts and reports, and within which limits: for the code that refuses, and for the forms
// that say so beforehand.
import { DAY_MS } from './units.ts'

/** The name of the provider that ships with Tollgate; no configured provider may have it. */
export const SANDBOX = 'sandbox'

/** The sandbox answers test keys. */
export const KEY_MODES = ['live', 'test'] as const
export type KeyMode = (typeof KEY_MODES)[number]

/** As people see it: expired follows from the date. */
export const KEY_STATUSES = ['active', 'paused', 'expired', 'revoked'] as const

/** Near the end of a budget: shorten the answer, or refuse the call. */
export const WHEN_TIGHT = ['cap', 'refuse'] as const
export type WhenTight = (typeof WHEN_TIGHT)[number]

export const KEY_ID_SHAPE = /^key_[0-9a-z]{26}$/
export const GROUP_ID_SHAPE = /^grp_[0-9a-z]{26}$/
/** Also of other texts that lists sort or search by: an index of PostgreSQL takes at most 2,704 bytes of a row. */
export const NAME_LENGTH_MAX = 200
export const TEXT_LENGTH_MAX = 2_000
export const MODELS_MAX = 1_000
/** Caps for models on one key. */
export const MODEL_BUDGETS_MAX = 50
export const TAGS_MAX = 50
export const RATE_MAX = 1_000_000_000
/** How long an old secret works beside the new one, by default. */
export const OVERLAP_MS = DAY_MS
export const OVERLAP_MS_MAX = 7 * DAY_MS
/** In tokens: an answer shorter than this is not worth having; reasoning models need room to reason first. */
export const OUTPUT_MINIMUM = 256
export const OUTPUT_MINIMUM_REASONING = 4_096

/** When alerts are sent by default: percent of the limit. */
export const USUAL_THRESHOLDS: readonly number[] = [50, 80, 100]
export const THRESHOLD_MAX = 1_000
export const THRESHOLDS_MAX = 10

/** Whole days before a key expires. */
export const USUAL_REMINDERS: readonly number[] = [30, 10, 1]
export const REMINDER_DAYS_MAX = 365
export const REMINDERS_MAX = 10

/** What alerts are about, as a destination chooses among them. */
export const ALERT_KINDS = [
  ...(['budget', 'refused', 'refusals', 'expiry', 'wish', 'outage', 'ledger'] as const),
  'inactive',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** What usage can be grouped by, in the order that a report is sorted in. */
export const DIMENSIONS = [
  ...(['day', 'hour', 'group', 'key', 'owner', 'environment', 'tag'] as const),
  ...(['model', 'provider', 'endpoint'] as const),
]
export type Dimension = (typeof DIMENSIONS)[number]
/** A list of keys says of this many what they cost, and adds up the rest. */
export const REPORT_ROWS = 1_000
