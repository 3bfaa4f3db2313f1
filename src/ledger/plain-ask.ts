// The border that every ask crosses on its way to the books. A figure that is no whole number would fail the whole
// batch that it shares with others, so it fails the one request that brought it, here.
import { AssertionError } from 'node:assert'

import type { PlainAsk } from './books.ts'
import type { Ask } from './ledger.ts'

export function plainAsk(asked: Ask): PlainAsk {
  const { signal: _, ...ask } = asked
  const { fixedPicodollars, outputTokenPicodollars, outputTokens, outputTokensMinimum } =
    ask.worstCase
  assertCount('estimated tokens', ask.estimatedTokens)
  assertCount('output tokens', outputTokens)
  assertCount('output tokens at least', outputTokensMinimum)
  if (fixedPicodollars < 0n || outputTokenPicodollars < 0n) fail('an ask costs less than nothing')
  return ask
}

function assertCount(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) fail(`an ask has ${value} ${what}`)
}

function fail(message: string): never {
  throw new AssertionError({ message })
}
