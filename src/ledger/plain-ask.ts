// Checks every ask and every settlement on its way to a batch: a bad figure fails its own request, not the whole batch.
import type { PlainAsk } from './batch.ts'
import type { Charge } from './books.ts'
import type { Ask, Settlement } from './ledger.ts'
import { assertCount, assertNanodollars, assertPicodollars } from './sound-figures.ts'

/** The ask without what cannot cross to another thread. */
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

/**
 * A settlement in the form of the books. Texts and times that no database stores are cleaned up, because they must not
 * fail a charge. Cost and tokens must be sound.
 */
export function toCharge(settlement: Settlement): Charge {
  const { tokens, firstTokenMs } = settlement
  assertNanodollars('cost', settlement.costNanodollars)
  return {
    holdId: settlement.holdId,
    requestId: settlement.requestId,
    keyId: settlement.keyId,
    endpoint: settlement.endpoint,
    modelAsked: storable(settlement.modelAsked),
    modelServed: settlement.modelServed && storable(settlement.modelServed),
    provider: settlement.provider,
    status: settlement.status,
    errorCode: settlement.errorCode && storable(settlement.errorCode),
    tokens: {
      inputTokens: sound(tokens.inputTokens),
      cachedTokens: sound(tokens.cachedTokens),
      cacheWriteTokens: sound(tokens.cacheWriteTokens),
      cacheWriteLongTokens: sound(tokens.cacheWriteLongTokens),
      outputTokens: sound(tokens.outputTokens),
      reasoningTokens: sound(tokens.reasoningTokens),
    },
    costNanodollars: settlement.costNanodollars,
    priceVersion: settlement.price && settlement.price.version,
    estimated: settlement.estimated,
    latencyMs: milliseconds(settlement.latencyMs),
    firstTokenMs: firstTokenMs === null ? null : milliseconds(firstTokenMs),
    endUser: settlement.endUser && storable(settlement.endUser),
    tags: tagsText(settlement.tags),
    attempts: JSON.stringify(settlement.attempts),
  }
}

/** No label needs more than this. */
const TEXT_CHARACTERS_MAX = 1024
const TAGS_MAX = 16

/** PostgreSQL takes neither NUL nor half a surrogate pair. */
function storable(text: string): string {
  return text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed().replaceAll('\0', '')
}

function sound(tokens: number): number {
  assertCount('number of tokens', tokens)
  return tokens
}

function milliseconds(value: number): number {
  const whole = Math.round(value)
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : 0
}

function tagsText(tags: Settlement['tags']): string {
  const entries = Object.entries(tags).slice(0, TAGS_MAX)
  if (entries.length === 0) return '{}'
  const storables = entries.map(([name, value]) => [storable(name), storable(value)])
  return JSON.stringify(Object.fromEntries(storables))
}
