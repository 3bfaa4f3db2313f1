// What each page keeps in the address, so that it can be shared and bookmarked. Defaults are left out. Pure.
import { z } from 'zod'
import { AUDIT_SOURCES, AUDIT_SUBJECTS } from '../../../src/admin/contract/audit.ts'
import { model as modelAnswer } from '../../../src/admin/contract/gateway.ts'
import { KEY_SORTS, keyFilters, type KeyQuery } from '../../../src/admin/contract/keys.ts'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { SINGLE_SIGN_ON_ERRORS, type SessionAnswer } from '../../../src/admin/contract/sign-in.ts'
import { FILTER_LENGTH_MAX, FILTER_VALUES_MAX, keyId } from '../../../src/admin/contract/values.ts'
import { ENDPOINTS } from '../../../src/core/endpoints.ts'
import { MODELS_MAX, NAME_LENGTH_MAX } from '../../../src/core/limits.ts'
import { DAY_MS } from '../../../src/core/units.ts'

/** For parts of a page that show what its address keeps, and change it. */
export type AddressProps<Search> = {
  readonly search: Search
  readonly onChange: (change: Partial<Search>) => void
}

/** A wrong value is dropped: it is never an error. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)

const text = optional(z.string().max(FILTER_LENGTH_MAX))
/** One value, or several of which any will do. */
const texts = optional(
  z.union([
    z.string().max(FILTER_LENGTH_MAX),
    z.array(z.string().max(FILTER_LENGTH_MAX)).max(FILTER_VALUES_MAX),
  ]),
)
/** As a date input writes it: 2026-11-15. */
const day = optional(z.iso.date())
const order = optional(z.enum(['asc', 'desc']))

const ownPages = '/settings/'

export const signInSearch = z.object({
  /** Where to go afterwards: a page of this interface, never another site. */
  next: optional(z.string().refine(isOwnPage)),
  /** Why single sign-on failed. */
  error: optional(z.enum(SINGLE_SIGN_ON_ERRORS)),
})

/** Checked as written and as a browser resolves it, without dots and tabs: `/settings/..//evil.example`. */
function isOwnPage(address: string): boolean {
  return (
    address.startsWith(ownPages) &&
    new URL(address, 'https://own.invalid').pathname.startsWith(ownPages)
  )
}

const startPages = [
  ['configuration:read', '/settings/api-access'],
  ['usage:read', '/settings/usage'],
  ['requests:read', '/settings/requests'],
  ['audit:read', '/settings/audit'],
  ['people:manage', '/settings/people'],
] as const satisfies readonly (readonly [Permission, string])[]

type Reader = Pick<NonNullable<SessionAnswer['person']>, 'permissions' | 'everywhere' | 'groups'>

/** The page shown first: the one most people come for, or the first that the person's role may open. */
export function startPage({ permissions, everywhere, groups }: Reader) {
  const isOnlyMember = [everywhere, ...groups.map((group) => group.permissions)].flat().length === 0
  if (isOnlyMember && groups.length > 0) return '/settings/my-keys'
  const open = startPages.find(([permission]) => permissions.includes(permission))
  return open?.[1] ?? '/settings/profile'
}

/** Columns of the key list that can be hidden; the name, the status and the menu always show. */
export const OPTIONAL_COLUMNS = [
  'group',
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

/** So many that a row is one line; the group and the owner stand beside the name. */
const usualColumns = ['budget', 'frame', 'models', 'cost', 'last_used'] as const

/** Stands for the group of keys that are in none. */
export const OUTSIDE_GROUPS = 'none'

/** The filters of the key list; each shows as a token that can be removed. */
const keyListFilters = {
  search: text,
  status: keyFilters.shape.status.catch(undefined),
  concern: keyFilters.shape.concern.catch(undefined),
  used: keyFilters.shape.used.catch(undefined),
  mode: keyFilters.shape.mode.catch(undefined),
  group: texts,
  owner: texts,
  environment: texts,
  tag: texts,
  model: text,
}
export type Filter = keyof typeof keyListFilters
export const FILTERS = Object.keys(keyListFilters) as Filter[]

export const overviewSearch = z.object({
  ...keyListFilters,
  sort: optional(z.enum(KEY_SORTS)),
  order,
  page: optional(z.int().min(1)),
  columns: optional(z.array(z.enum(OPTIONAL_COLUMNS))),
  /** Rows of several lines, with more about each key. */
  roomy: optional(z.literal(true)),
  /** The card of the frame shows everything about it, not only one line. */
  frame: optional(z.literal('open')),
  /** A section for each group. */
  grouped: optional(z.literal(true)),
})
export type OverviewSearch = z.output<typeof overviewSearch>

export const perPage = 50

/** Revoked keys are hidden until the reader asks for them. */
export function keyQueryOf(search: OverviewSearch): KeyQuery {
  const { columns: _columns, roomy: _roomy, frame: _frame, grouped: _grouped, ...asked } = search
  return {
    ...asked,
    status: asked.status ?? 'current',
    sort: asked.sort ?? 'name',
    order: asked.order ?? 'asc',
    page: asked.page ?? 1,
    per_page: perPage,
  }
}

export function columnsOf({ columns }: OverviewSearch): readonly OptionalColumn[] {
  return columns ?? usualColumns
}

export const GROUP_STATUSES = ['active', 'archived'] as const

const GROUP_SORTS = ['name', 'status', 'percent', 'keys', 'members'] as const
export type GroupSort = (typeof GROUP_SORTS)[number]

export const groupsSearch = z.object({
  search: text,
  status: optional(z.enum(GROUP_STATUSES)),
  sort: optional(z.enum(GROUP_SORTS)),
  order,
  page: optional(z.int().min(1)),
})
export type GroupsSearch = z.output<typeof groupsSearch>

export const GROUP_TABS = ['keys', 'usage', 'members', 'settings', 'activity'] as const
export type GroupTab = (typeof GROUP_TABS)[number]

const list = optional(z.array(z.string().max(NAME_LENGTH_MAX)).max(MODELS_MAX))

/** Values that a link to the form may fill in, so that a team can bookmark its usual settings. */
export const newKeySearch = z.object({
  /** The key whose settings are copied. */
  from: text,
  name: text,
  group: text,
  owner: text,
  environment: text,
  models: list,
  tags: list,
  budget: optional(z.coerce.string().max(20)),
})
export type NewKeySearch = z.output<typeof newKeySearch>

export const REQUEST_OUTCOMES = ['ok', 'failed', 'refused'] as const

export const requestId = z.string().regex(/^req_[0-9a-z]{26}$/)

const requestFields = {
  outcome: optional(z.enum(REQUEST_OUTCOMES)),
  /** The request open beside the list. */
  open: optional(requestId),
}

export const requestsSearch = z.object({
  ...requestFields,
  /** Of refused calls alone. */
  group: text,
  key: optional(keyId),
  model: text,
  from: day,
  to: day,
})
export type RequestsSearch = z.output<typeof requestsSearch>

export function requestQueryOf({ open: _open, ...search }: RequestsSearch) {
  return spanned(search)
}

export const AUDIT_OUTCOMES = ['done', 'refused'] as const

export const auditSearch = z.object({
  subject: optional(z.enum(AUDIT_SUBJECTS)),
  subject_id: text,
  actor: text,
  source: optional(z.enum(AUDIT_SOURCES)),
  outcome: optional(z.enum(AUDIT_OUTCOMES)),
  from: day,
  to: day,
})
export type AuditSearch = z.output<typeof auditSearch>

export type Days = { readonly from?: string | undefined; readonly to?: string | undefined }

/** A query with the first moment of the first day, and the first moment after the last one. */
export function spanned<Search extends Days>({ from, to, ...rest }: Search) {
  return { ...rest, since: startOfDay(from), until: startOfDay(to, 1) }
}

/** In the reader's time zone. */
function startOfDay(chosen: string | undefined, daysLater = 0): string | undefined {
  if (chosen === undefined) return undefined
  const start = new Date(`${chosen}T00:00:00`)
  start.setDate(start.getDate() + daysLater)
  return start.toISOString()
}

export const METRICS = [
  'cost',
  'requests',
  'failed',
  'refused',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cache_write_tokens',
] as const
export type Metric = (typeof METRICS)[number]

/** `period`: for one key, since its budget period started. */
export const RANGES = ['24h', '7d', '30d', '90d', 'period', 'days'] as const

export const GROUPS = [
  ...(['key', 'group', 'owner', 'environment', 'tag'] as const),
  ...(['model', 'provider', 'endpoint', 'day'] as const),
]
export type Group = (typeof GROUPS)[number]

const usageFields = {
  range: optional(z.enum(RANGES)),
  from: day,
  to: day,
  metric: optional(z.enum(METRICS)),
  by: optional(z.enum(GROUPS)),
  /** Compare with the preceding span of the same length. */
  compare: optional(z.literal(true)),
}

/** Only what matches all of them. */
const usageFilters = {
  key: optional(keyId),
  /** Its id, or `none` for what was used outside groups. */
  group: text,
  owner: text,
  environment: text,
  tag: text,
  model: text,
  provider: text,
  endpoint: optional(z.enum(ENDPOINTS)),
}
export type UsageFilters = Readonly<Partial<Record<keyof typeof usageFilters, string>>>

export function usageFiltersOf(search: UsageSearch): UsageFilters {
  const { key, group, owner, environment, tag, model, provider, endpoint } = search
  const all = { key, group, owner, environment, tag, model, provider, endpoint }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

export const usageSearch = z.object({ ...usageFields, ...usageFilters })
export type UsageSearch = z.output<typeof usageSearch>

export type Span = { readonly since: string; readonly until: string; readonly step: 'day' | 'hour' }

const lengths = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const

/** Callers round `now` to the minute, so that the same span keeps the same cache key. */
export function spanOf(
  { range = '30d', from, to }: Pick<UsageSearch, 'range' | 'from' | 'to'>,
  now: number,
  periodStartsAt: string | null = null,
): Span {
  const last = (days: number): Span => spanBetween(now - days * DAY_MS, now)
  if (range === 'days') {
    const since = Date.parse(startOfDay(from) ?? '') || now - lengths['30d'] * DAY_MS
    const until = Date.parse(startOfDay(to, 1) ?? '') || now
    // A span that ends before it begins is a mistake; show the default span.
    return since < until ? spanBetween(since, until) : last(lengths['30d'])
  }
  if (range !== 'period') return last(lengths[range])
  // A period that started longer ago, or has no start, shows its last 90 days.
  const start = periodStartsAt === null ? 0 : Date.parse(periodStartsAt)
  return spanBetween(Math.max(start, now - lengths['90d'] * DAY_MS), now)
}

/** Up to two days are shown by the hour. */
function spanBetween(sinceMs: number, untilMs: number): Span {
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    step: untilMs - sinceMs <= 2 * DAY_MS ? 'hour' : 'day',
  }
}

export const TABS = ['usage', 'requests', 'models', 'settings', 'activity'] as const
export type Tab = (typeof TABS)[number]

/** The page of one key. */
export const detailSearch = z.object({
  tab: optional(z.enum(TABS)),
  /** The model the verdict is for. */
  model: text,
  ...usageFields,
  ...requestFields,
})
export type DetailSearch = z.output<typeof detailSearch>

/** The page of one group. */
export const groupSearch = z.object({
  tab: optional(z.enum(GROUP_TABS)),
  /** Of its list of keys. */
  page: optional(z.int().min(1)),
  ...usageFields,
})
export type GroupSearch = z.output<typeof groupSearch>

export const KINDS = modelAnswer.shape.kind.options
export const HEALTHS = modelAnswer.shape.health.options
const MODEL_SORTS = ['id', 'provider', 'input', 'output', 'context', 'keys'] as const
export type ModelSort = (typeof MODEL_SORTS)[number]

export const modelsSearch = z.object({
  search: text,
  provider: text,
  kind: optional(z.enum(KINDS)),
  health: optional(z.enum(HEALTHS)),
  sort: optional(z.enum(MODEL_SORTS)),
  order,
  /** The model whose drawer is open. */
  open: text,
})
export type ModelsSearch = z.output<typeof modelsSearch>

export const playgroundSearch = z.object({ key: optional(keyId), model: text })
export type PlaygroundSearch = z.output<typeof playgroundSearch>
