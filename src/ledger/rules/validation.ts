// Checks every ask and every settlement on its way to a batch. Figures must be whole, not negative, and small enough to
// be added up exactly. The code that computes them ensures that; this second check makes a bad figure fail only its own
// request, not the whole batch.
import { AssertionError } from 'node:assert'
import { componentsOf, parsePrice, type Price } from '../../catalog/prices.ts'
import type { Nanodollars, Picodollars } from '../../core/money.ts'
import { storable } from '../../core/text.ts'
import type { Ask, Settlement } from '../ledger.ts'
import type { CheckedAsk } from './batch.ts'
import type { Charge, PriceRow } from './rows.ts'

/** The ask without what cannot cross to another thread. */
export function checkedAsk(asked: Ask): CheckedAsk {
  assertCount('number of tokens', asked.estimatedTokens)
  if (asked.candidates.length === 0) throw new RangeError('an ask needs a target')
  for (const worst of asked.candidates) {
    assertCount('limit of output', worst.outputTokens)
    assertCount('least output', worst.outputTokensMinimum)
    assertPicodollars('cost', worst.fixedPicodollars)
    assertPicodollars('price', worst.outputTokenPicodollars)
  }
  // Written out: a copy of whatever is left without the signal takes ten times as long.
  return {
    requestId: asked.requestId,
    keyId: asked.keyId,
    groupId: asked.groupId,
    groupVersion: asked.groupVersion,
    allowVersion: asked.allowVersion,
    endpoint: asked.endpoint,
    modelAsked: asked.modelAsked,
    candidates: asked.candidates,
    whenTight: asked.whenTight,
    estimatedTokens: asked.estimatedTokens,
    recounted: asked.recounted,
    isLastTry: asked.isLastTry ?? false,
  }
}

/**
 * A settlement in the form of the books. Texts and times that no database stores are cleaned up, because they must not
 * fail a charge. Cost and tokens must be sound.
 */
export function toCharge(settlement: Settlement): Charge {
  const { tokens, firstTokenMs } = settlement
  assertNanodollars('cost', settlement.costNanodollars)
  return {
    id: settlement.holdId,
    requestId: settlement.requestId,
    keyId: settlement.keyId,
    groupId: settlement.groupId,
    endpoint: settlement.endpoint,
    modelAsked: short(settlement.modelAsked),
    modelServed: settlement.modelServed && short(settlement.modelServed),
    provider: settlement.provider,
    status: answered(settlement.status),
    errorCode: settlement.errorCode && short(settlement.errorCode),
    inputTokens: sound(tokens.inputTokens),
    cachedTokens: sound(tokens.cachedTokens),
    cacheWriteTokens: sound(tokens.cacheWriteTokens),
    cacheWriteLongTokens: sound(tokens.cacheWriteLongTokens),
    outputTokens: sound(tokens.outputTokens),
    reasoningTokens: sound(tokens.reasoningTokens),
    costNanodollars: settlement.costNanodollars,
    priceVersion: settlement.price && settlement.price.version,
    estimated: settlement.estimated,
    latencyMs: milliseconds(settlement.latencyMs),
    firstTokenMs: firstTokenMs === null ? null : milliseconds(firstTokenMs),
    traceId: settlement.traceId,
    endUser: settlement.endUser && short(settlement.endUser),
    tags: tagsText(settlement.tags),
    attempts: JSON.stringify(settlement.attempts),
  }
}

/** No label needs more than this. */
const TEXT_CHARACTERS_MAX = 1024
const TAGS_MAX = 16

function short(text: string): string {
  return storable(text.slice(0, TEXT_CHARACTERS_MAX))
}

function answered(status: number): number {
  assertCount('status', status)
  return status
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
  const storables = entries.map(([name, value]) => [short(name), short(value)])
  return JSON.stringify(Object.fromEntries(storables))
}

/** A cache: prices are few and live long, and writing one out takes longer than a settlement's share of a batch. */
const rows = new WeakMap<Price, PriceRow>()

export function toPriceRow(price: Price): PriceRow {
  let row = rows.get(price)
  if (row === undefined) {
    row = { version: price.version, figures: componentsOf(price) }
    rows.set(price, row)
  }
  return row
}

export function toPrice(row: PriceRow): Price {
  return { ...parsePrice(row.figures), version: row.version }
}

/** A price, or a cost computed from one: it is compared with budgets, so it needs no upper bound of its own. */
export function assertPicodollars(what: string, value: Picodollars): void {
  if (typeof value !== 'bigint' || value < 0n) fail(what, value)
}

const NANODOLLARS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** No budget pays for more than this, and sums of larger amounts would not be exact. */
export function assertNanodollars(what: string, value: Nanodollars): void {
  if (typeof value !== 'bigint' || value < 0n || value > NANODOLLARS_MAX) fail(what, value)
}

export function assertCount(what: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) fail(what, value)
}

/** The message is built only on failure: as an argument of `assert` it cost more than the check. */
function fail(what: string, value: number | bigint): never {
  throw new AssertionError({ message: `${value} is no ${what} that the books take` })
}
