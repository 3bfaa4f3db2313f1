// The JSON form of why a request cost what it did, for the command line and the admin API.
import { perMillion } from '../catalog/model-json.ts'
import type { CostLine } from '../catalog/prices.ts'
import { formatUsd, PICO_PER_NANO } from '../core/money.ts'
import { sentenceWithText, type SentenceName } from '../core/sentences.ts'
import { iso, usd } from '../core/value-json.ts'
import type { Explanation } from './explain.ts'
import { targetOf } from './usage-json.ts'

export function explanationJson({ row, ...rest }: Explanation) {
  return {
    request_id: row.requestId,
    hold: row.id,
    key: row.keyId,
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    state: row.state,
    status: row.status,
    error: row.errorCode,
    reserved_at: iso(row.at),
    settled_at: iso(row.settledAt),
    held: usd(row.heldNanodollars),
    cost: usd(row.costNanodollars),
    recomputed: usd(rest.recomputedNanodollars),
    agrees: rest.agrees,
    estimated: row.estimated,
    why: rest.why,
    reasons: reasonsOf(rest.why),
    price_version: row.priceVersion,
    lines: rest.lines.map((line) => ({
      what: line.what,
      count: line.count,
      price: priceOf(line),
      ...listOf(line),
    })),
    attempts: rest.attempts.map(({ target, why, outcome, durationMs }) => ({
      target,
      why,
      reasons: reasonsOf(why),
      outcome,
      duration_ms: durationMs,
    })),
    changes: rest.entries.map(({ at, actor, reason, before, after }) => ({
      at: iso(at),
      actor,
      reason,
      before: usd(before),
      after: usd(after),
    })),
  }
}

/** The names of the sentences in a text; none when one of them is unknown, as in the row of an old request. */
function reasonsOf(why: string): SentenceName[] {
  const sentences = why.split('; ').map(sentenceWithText)
  return sentences.every((each) => each !== undefined) ? sentences.map(({ name }) => name) : []
}

/** The price before the discount, and the discount as a part of it; nothing where there is none. */
function listOf({ what, list }: CostLine) {
  if (list === undefined) return {}
  const { eachPicodollars, millionths } = list
  return {
    list_price: priceOf({ what, eachPicodollars }),
    discount: String(millionths / 1_000_000),
  }
}

/** USD per million tokens; for a fee, USD each. */
export function priceOf({ what, eachPicodollars }: Omit<CostLine, 'count'>): string {
  const isFee = what === 'request' || what === 'webSearch'
  return isFee ? formatUsd(eachPicodollars / PICO_PER_NANO) : perMillion(eachPicodollars)
}
