// The state of the models page that is kept in the address.
import { z } from 'zod'
import { model as modelAnswer } from '../../../../src/admin/contract/models.ts'
import type { ModelAnswer } from '../../../../src/admin/contract/models.ts'
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

/** The models that pass the filters, in the requested order. */
export function matching(
  models: readonly ModelAnswer[],
  search: ModelsSearch,
): readonly ModelAnswer[] {
  const words = (search.search ?? '').toLowerCase().split(/\s+/)
  const sign = search.order === 'desc' ? -1 : 1
  const by = search.sort ?? 'id'
  return models
    .filter((model) => words.every((word) => model.id.toLowerCase().includes(word)))
    .filter(({ kind }) => search.kind === undefined || kind === search.kind)
    .filter(({ health }) => search.health === undefined || health === search.health)
    .filter(({ targets }) => isServedBy(targets, search.provider))
    .toSorted((one, other) => sign * compare(valueOf(one, by), valueOf(other, by)))
}

function isServedBy(targets: ModelAnswer['targets'], wanted: string | undefined): boolean {
  return wanted === undefined || targets.some(({ provider }) => provider === wanted)
}

function valueOf(model: ModelAnswer, by: ModelSort): string | number {
  switch (by) {
    case 'id':
      return model.id
    case 'provider':
      return model.provider ?? ''
    case 'input':
      return Number(model.price?.input ?? -1)
    case 'output':
      return Number(model.price?.output ?? -1)
    case 'context':
      return model.context ?? -1
    case 'keys':
      return model.key_count
  }
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'string' && typeof other === 'string'
    ? one.localeCompare(other)
    : Number(one) - Number(other)
}
