// The state of the overview that is kept in the address. Defaults are left out; invalid values are dropped.
import { z } from 'zod'
import { KEY_SORTS, keyFilters } from '../../../../src/admin/contract/keys.ts'
import type { KeyQuery } from '../../../../src/admin/contract/keys.ts'
import { addressText } from '../../address-text.ts'

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
