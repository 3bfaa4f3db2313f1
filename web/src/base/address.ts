// The page shown first: the one most people come for, or the first that the person's role may open.
import { z } from 'zod'
import { AUDIT_SOURCES, AUDIT_SUBJECTS } from '../../../src/admin/contract/audit.ts'
import { KEY_SORTS, keyFilters } from '../../../src/admin/contract/keys.ts'
import type { KeyQuery } from '../../../src/admin/contract/keys.ts'
import { model as modelAnswer } from '../../../src/admin/contract/models.ts'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { SINGLE_SIGN_ON_ERRORS } from '../../../src/admin/contract/sign-in.ts'
import { FILTER_LENGTH_MAX, keyId } from '../../../src/admin/contract/values.ts'
import { MODELS_MAX, NAME_LENGTH_MAX } from '../../../src/core/limits.ts'
import { DAY_MS } from '../../../src/core/units.ts'

const startPages = [
  ['configuration:read', '/settings/api-access'],
  ['usage:read', '/settings/usage'],
  ['requests:read', '/settings/requests'],
  ['audit:read', '/settings/audit'],
  ['people:manage', '/settings/people'],
] as const satisfies readonly (readonly [Permission, string])[]

export function startPage(permissions: readonly Permission[]) {
  const open = startPages.find(([permission]) => permissions.includes(permission))
  return open?.[1] ?? '/settings/profile'
}

// A text parameter in the address, such as a list's filter. A text that is implausibly long is dropped.

const addressText = z.string().max(FILTER_LENGTH_MAX).optional().catch(undefined)

// Calendar days in the reader's time zone, and the moments at which they start and end. Pure.

/** A day as a date input writes it: 2026-11-15. */
const day = z.iso.date().optional().catch(undefined)

/** The first moment of a day. */
function startOfDay(chosen: string | undefined): string | undefined {
  return chosen === undefined ? undefined : new Date(`${chosen}T00:00:00`).toISOString()
}

/** The first moment after a day. */
function endOfDay(chosen: string | undefined): string | undefined {
  if (chosen === undefined) return undefined
  const next = new Date(`${chosen}T00:00:00`)
  next.setDate(next.getDate() + 1)
  return next.toISOString()
}

// What the address keeps of a list of requests, for all keys and for one.

export const REQUEST_OUTCOMES = ['ok', 'failed'] as const

export const requestId = z.string().regex(/^req_[0-9a-z]{26}$/)

const requestFields = {
  outcome: z.enum(REQUEST_OUTCOMES).optional().catch(undefined),
  /** The request open beside the list. */
  open: requestId.optional().catch(undefined),
}

// The usage filters as kept in the address, for all keys and for one, and the time span they select. Pure.

export const METRICS = [
  'cost',
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
] as const
export type Metric = (typeof METRICS)[number]

/** `period`: for one key, since its budget period started. */
export const RANGES = ['24h', '7d', '30d', '90d', 'period', 'days'] as const

export const GROUPS = ['key', 'model', 'provider', 'endpoint', 'day'] as const
export type Group = (typeof GROUPS)[number]

const usageFields = {
  range: z.enum(RANGES).optional().catch(undefined),
  from: day,
  to: day,
  metric: z.enum(METRICS).optional().catch(undefined),
  by: z.enum(GROUPS).optional().catch(undefined),
  /** Compare with the preceding span of the same length. */
  compare: z.literal(true).optional().catch(undefined),
}

export const usageSearch = z.object(usageFields)
export type UsageSearch = z.output<typeof usageSearch>

export type Span = {
  readonly since: string
  readonly until: string
  readonly step: 'day' | 'hour'
}

const lengths = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const
/** A period that started longer ago, or has no start, shows its last 90 days. */
const longestMs = 90 * DAY_MS

/** Callers round `now` to the minute, so that the same span keeps the same cache key. */
export function spanOf(
  { range = '30d', from, to }: Pick<UsageSearch, 'range' | 'from' | 'to'>,
  now: number,
  periodStartsAt: string | null = null,
): Span {
  const ago = (ms: number): Span => spanBetween(now - ms, now)
  if (range === 'days') {
    const since = Date.parse(startOfDay(from) ?? '') || now - lengths['30d'] * DAY_MS
    const until = Date.parse(endOfDay(to) ?? '') || now
    // A span that ends before it begins is a mistake; show the default span.
    return since < until ? spanBetween(since, until) : ago(lengths['30d'] * DAY_MS)
  }
  if (range !== 'period') return ago(lengths[range] * DAY_MS)
  const start = periodStartsAt === null ? 0 : Date.parse(periodStartsAt)
  return spanBetween(Math.max(start, now - longestMs), now)
}

/** Up to two days are shown by the hour. */
function spanBetween(sinceMs: number, untilMs: number): Span {
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    step: untilMs - sinceMs <= 2 * DAY_MS ? 'hour' : 'day',
  }
}

// The state of the overview that is kept in the address. Defaults are left out; invalid values are dropped.

/** Columns that can be hidden; the name, the status and the menu always show. */
export const OPTIONAL_COLUMNS = [
  'budget',
  'frame',
  'models',
  'limits',
  'cost',
  'last_used',
  'expires',
  'owner',
] as const
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number]

const usualColumns: readonly OptionalColumn[] = OPTIONAL_COLUMNS.slice(0, 6)

export const overviewSearch = z.object({
  search: addressText,
  status: keyFilters.shape.status.catch(undefined),
  concern: keyFilters.shape.concern.catch(undefined),
  used: keyFilters.shape.used.catch(undefined),
  mode: keyFilters.shape.mode.catch(undefined),
  owner: addressText,
  environment: addressText,
  tag: addressText,
  model: addressText,
  sort: z.enum(KEY_SORTS).optional().catch(undefined),
  order: z.enum(['asc', 'desc']).optional().catch(undefined),
  page: z.int().min(1).optional().catch(undefined),
  columns: z.array(z.enum(OPTIONAL_COLUMNS)).optional().catch(undefined),
  dense: z.literal(true).optional().catch(undefined),
})
export type OverviewSearch = z.output<typeof overviewSearch>

/** The filters of the list; each shows as a token that can be removed. */
export const FILTERS = [
  'search',
  'status',
  'concern',
  'used',
  'mode',
  'owner',
  'environment',
  'tag',
  'model',
] as const
export type Filter = (typeof FILTERS)[number]

export const perPage = 50

/** Revoked keys are hidden until the reader asks for them. */
export function keyQueryOf(search: OverviewSearch): KeyQuery {
  const { columns: _columns, dense: _dense, ...asked } = search
  return {
    ...asked,
    status: asked.status ?? 'current',
    sort: asked.sort ?? 'last_used_at',
    order: asked.order ?? 'desc',
    page: asked.page ?? 1,
    per_page: perPage,
  }
}

export function columnsOf({ columns }: OverviewSearch): readonly OptionalColumn[] {
  return columns ?? usualColumns
}

// Values that a link to the form may fill in, so that a team can bookmark its usual settings.

const list = z.array(z.string().max(NAME_LENGTH_MAX)).max(MODELS_MAX).optional().catch(undefined)

export const newKeySearch = z.object({
  /** The key whose settings are copied. */
  from: addressText,
  name: addressText,
  owner: addressText,
  environment: addressText,
  models: list,
  tags: list,
  budget: z.coerce.string().max(20).optional().catch(undefined),
})
export type NewKeySearch = z.output<typeof newKeySearch>

// The state of a key's page that is kept in the address.

export const TABS = ['usage', 'requests', 'models', 'settings', 'activity'] as const
export type Tab = (typeof TABS)[number]

export const detailSearch = z.object({
  tab: z.enum(TABS).optional().catch(undefined),
  /** The model the verdict is for. */
  model: addressText,
  ...usageFields,
  ...requestFields,
})
export type DetailSearch = z.output<typeof detailSearch>

// The state of the models page that is kept in the address.

export const KINDS = modelAnswer.shape.kind.options
export const HEALTHS = modelAnswer.shape.health.options
const SORTS = ['id', 'provider', 'input', 'output', 'context', 'keys'] as const
export type ModelSort = (typeof SORTS)[number]

export const modelsSearch = z.object({
  search: addressText,
  provider: addressText,
  kind: z.enum(KINDS).optional().catch(undefined),
  health: z.enum(HEALTHS).optional().catch(undefined),
  sort: z.enum(SORTS).optional().catch(undefined),
  order: z.enum(['asc', 'desc']).optional().catch(undefined),
  /** The model whose drawer is open. */
  open: addressText,
})
export type ModelsSearch = z.output<typeof modelsSearch>

// The state of the requests page that is kept in the address.

export const requestsSearch = z.object({
  ...requestFields,
  key: keyId.optional().catch(undefined),
  model: addressText,
  from: day,
  to: day,
})
export type RequestsSearch = z.output<typeof requestsSearch>

export function requestQueryOf(search: RequestsSearch) {
  const { open: _, from, to, ...rest } = search
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}

// The state of the audit log that is kept in the address.

export const AUDIT_OUTCOMES = ['done', 'refused'] as const

export const auditSearch = z.object({
  subject: z.enum(AUDIT_SUBJECTS).optional().catch(undefined),
  subject_id: addressText,
  actor: addressText,
  source: z.enum(AUDIT_SOURCES).optional().catch(undefined),
  outcome: z.enum(AUDIT_OUTCOMES).optional().catch(undefined),
  from: day,
  to: day,
})
export type AuditSearch = z.output<typeof auditSearch>

export function auditFiltersOf({ from, to, ...rest }: AuditSearch) {
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}

// The state of the playground that is kept in the address.

export const playgroundSearch = z.object({
  key: keyId.optional().catch(undefined),
  model: addressText,
})
export type PlaygroundSearch = z.output<typeof playgroundSearch>

// The address parameters of the sign-in page.

export const signInSearch = z.object({
  /** Where to go afterwards: a page of this interface, never another site. */
  next: z.string().refine(isOwnPage).optional().catch(undefined),
  /** Why single sign-on failed. */
  error: z.enum(SINGLE_SIGN_ON_ERRORS).optional().catch(undefined),
})

/** The prefix of every page that requires a signed-in person. */
const ownPages = '/settings/'

/** Checked as written and as a browser resolves it, without dots and tabs: `/settings/..//evil.example`. */
function isOwnPage(address: string): boolean {
  return (
    address.startsWith(ownPages) &&
    new URL(address, 'https://own.invalid').pathname.startsWith(ownPages)
  )
}
