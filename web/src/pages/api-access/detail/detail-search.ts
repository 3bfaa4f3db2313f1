// The state of a key's page as it stands in the address.
import { z } from 'zod'
import { usageFields } from '../../../usage/usage-search.ts'

export const TABS = ['usage', 'requests', 'models', 'settings', 'activity'] as const
export type Tab = (typeof TABS)[number]

export const detailSearch = z.object({
  tab: z.enum(TABS).optional().catch(undefined),
  /** Which model the verdict is about. */
  model: z.string().max(200).optional().catch(undefined),
  ...usageFields,
  outcome: z.enum(['ok', 'failed']).optional().catch(undefined),
})
export type DetailSearch = z.output<typeof detailSearch>
