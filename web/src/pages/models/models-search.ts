// The state of the models page that is kept in the address.
import { z } from 'zod'
import { model as modelAnswer } from '../../../../src/admin/contract/models.ts'
import { addressText } from '../../address-text.ts'

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
