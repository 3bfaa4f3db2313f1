// Checks every ask on its way to the books, and removes what cannot cross to another thread.
import type { PlainAsk } from './books.ts'
import type { Ask } from './ledger.ts'
import { assertCount, assertPicodollars } from './sound-figures.ts'

export function plainAsk(asked: Ask): PlainAsk {
  const { signal: _, ...ask } = asked
  const { worstCase } = ask
  assertCount('number of tokens', ask.estimatedTokens)
  assertCount('limit of output', worstCase.outputTokens)
  assertCount('least output', worstCase.outputTokensMinimum)
  assertPicodollars('cost', worstCase.fixedPicodollars)
  assertPicodollars('price', worstCase.outputTokenPicodollars)
  return ask
}
