// Finds models: by text, kind and capability, grouped by provider. Pure.
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import type { Ability } from '../../../../src/core/endpoints.ts'

export type ModelFilter = {
  readonly text: string
  readonly kind?: ModelAnswer['kind'] | undefined
  readonly ability?: Ability | undefined
}

export const noFilter: ModelFilter = { text: '' }

export function matchingModels(
  models: readonly ModelAnswer[],
  { text, kind, ability }: ModelFilter,
): readonly ModelAnswer[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return models.filter((model) => {
    const name = `${model.id} ${model.provider ?? ''}`.toLowerCase()
    return (
      words.every((word) => name.includes(word)) &&
      (kind === undefined || model.kind === kind) &&
      (ability === undefined || model.abilities[ability] === true)
    )
  })
}

export type ModelGroup = {
  /** Null: no provider serves them at present. */
  readonly provider: string | null
  readonly models: readonly ModelAnswer[]
}

export function groupedByProvider(models: readonly ModelAnswer[]): readonly ModelGroup[] {
  const groups = Map.groupBy(models, ({ provider }) => provider)
  return [...groups]
    .map(([provider, members]) => ({ provider, models: members }))
    .toSorted((one, other) => {
      if (one.provider === null || other.provider === null) return one.provider === null ? 1 : -1
      return one.provider.localeCompare(other.provider)
    })
}

/** Reads pasted names: separated by commas, spaces or lines, quoted or not. */
export function readPastedModels(
  pasted: string,
  known: ReadonlySet<string>,
): { readonly found: readonly string[]; readonly unknown: readonly string[] } {
  const names = [...new Set(pasted.split(/[\s,;"'[\]]+/).filter(Boolean))]
  return {
    found: names.filter((name) => known.has(name)),
    unknown: names.filter((name) => !known.has(name)),
  }
}
