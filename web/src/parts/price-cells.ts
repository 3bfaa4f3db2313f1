// The input and the output price of a model, for the tables of models.
import type { ModelAnswer } from '../../../src/admin/contract/models.ts'
import { useMoneyColumn } from './money-column.tsx'

type Priced = Pick<ModelAnswer, 'kind' | 'price'>

/** Draws the two prices of the models of one table; a key may name a model that no longer exists. */
export function usePriceCells(models: readonly (Priced | undefined)[] = []) {
  const input = useMoneyColumn(models.map(inputPrice))
  const output = useMoneyColumn(models.map(outputPrice))
  return {
    input: (model: Priced | undefined) => input(inputPrice(model)),
    output: (model: Priced | undefined) => output(outputPrice(model)),
  }
}

function inputPrice(model: Priced | undefined): string | undefined {
  return model?.price?.input
}

/** Embeddings have no output. */
function outputPrice(model: Priced | undefined): string | undefined {
  return model?.kind === 'embedding' ? undefined : model?.price?.output
}
