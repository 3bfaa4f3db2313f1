// Checks every ask on its way to the books, and removes what cannot cross to another thread.
import type { PlainAsk } from './books.ts'
import type { Ask } from './ledger.ts'
import { assertCount, assertPicodollars } from './sound-figures.ts'

export function plainAsk(asked: Ask): PlainAsk {
  const { signal: _, ...ask } = asked
  assertCount('number of tokens', ask.estimatedTokens)
  if (ask.candidates.length === 0) throw new RangeError('an ask needs a target')
  for (const worst of ask.candidates) {
    assertCount('limit of output', worst.outputTokens)
    assertCount('least output', worst.outputTokensMinimum)
    assertPicodollars('cost', worst.fixedPicodollars)
    assertPicodollars('price', worst.outputTokenPicodollars)
  }
  return ask
}
