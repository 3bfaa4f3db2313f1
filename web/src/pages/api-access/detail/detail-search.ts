// The state of a key's page as it stands in the address.
import { z } from 'zod'
import { METRICS } from '../../../usage/usage-figures.ts'

export const TABS = ['usage', 'requests', 'models', 'settings', 'activity'] as const
export type Tab = (typeof TABS)[number]

export const RANGES = ['24h', '7d', '30d', 'period'] as const
export type Range = (typeof RANGES)[number]

export const detailSearch = z.object({
  tab: z.enum(TABS).optional().catch(undefined),
  /** Which model the verdict is about. */
  model: z.string().max(200).optional().catch(undefined),
  range: z.enum(RANGES).optional().catch(undefined),
  metric: z.enum(METRICS).optional().catch(undefined),
  outcome: z.enum(['ok', 'failed']).optional().catch(undefined),
})
export type DetailSearch = z.output<typeof detailSearch>
