// The JSON form of why a request cost what it cost, for the command line and the admin API alike.
import type { CostLine } from '../catalog/prices.ts'
import { formatUsd } from '../core/money.ts'
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
    reserved_at: new Date(row.at).toISOString(),
    settled_at: new Date(row.settledAt).toISOString(),
    held: formatUsd(row.amount),
    cost: formatUsd(row.costNanodollars),
    recomputed: rest.recomputedNanodollars === null ? null : formatUsd(rest.recomputedNanodollars),
    agrees: rest.agrees,
    estimated: row.estimated,
    why: rest.why,
    price_version: row.priceVersion,
    lines: rest.lines.map((line) => ({
      what: line.what,
      count: line.count,
      price: priceOf(line),
    })),
    attempts: rest.attempts.map(({ target, why, outcome, durationMs }) => ({
      target,
      why,
      outcome,
      duration_ms: durationMs,
    })),
    changes: rest.entries.map(({ at, actor, reason, before, after }) => ({
      at: new Date(at).toISOString(),
      actor,
      reason,
      before: before === null ? null : formatUsd(before),
      after: after === null ? null : formatUsd(after),
    })),
  }
}

/** USD per million tokens; a fee is what it is once. */
export function priceOf({ what, eachPicodollars }: CostLine): string {
  const isFee = what === 'request' || what === 'webSearch'
  return formatUsd(isFee ? eachPicodollars / 1_000n : eachPicodollars * 1_000n)
}
