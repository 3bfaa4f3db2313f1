// The state of a key's page that is kept in the address.
import { z } from 'zod'
import { addressText } from '../../../address-text.ts'
import { requestFields } from '../../../requests/request-fields.ts'
import { usageFields } from '../../../usage/usage-search.ts'

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
