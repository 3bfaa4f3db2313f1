// `x-tollgate-dry-run: 1`: reports what would happen to this request, by the code that decides it, without doing it.
import type { AdmissionParts, AdmissionRequest, Forecast } from '../access/admit.ts'
import { forecast } from '../access/admit.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { formatUsd } from '../core/money.ts'
import type { Prepared } from './prepare.ts'
import { nameOf, grantedTargets, skipped, withoutSearches } from './prepare.ts'

export async function dryRun(
  parts: AdmissionParts,
  request: AdmissionRequest,
  prepared: readonly Prepared[],
): Promise<JsonObject> {
  const found = await forecast(parts, request)
  const { outcome } = found
  const isRefused = outcome instanceof GatewayError
  const all = found.maySearch ? prepared : prepared.map(withoutSearches)
  const [first] = isRefused ? all : grantedTargets(all, outcome)
  const left = isRefused ? [] : skipped(all, outcome)
  return {
    object: 'tollgate.dry_run',
    model: request.call.model,
    target: first === undefined ? null : nameOf(first),
    dropped: first?.dropped ?? [],
    ...(left.length > 0 && { skipped: left.map(({ target, by }) => ({ target, by })) }),
    worst_case: formatUsd(found.worstCaseNanodollars),
    ...verdictOf(outcome),
  }
}

/** The same for a call that costs nothing and that no target answers. */
export function freeDryRun(
  { model, dropped = [] }: { readonly model: string; readonly dropped?: readonly string[] },
  outcome: Forecast['outcome'],
): JsonObject {
  return {
    object: 'tollgate.dry_run',
    model: model === '' ? null : model,
    target: null,
    dropped,
    worst_case: '0',
    ...verdictOf(outcome),
  }
}

function verdictOf(outcome: Forecast['outcome']): JsonObject {
  if (outcome instanceof GatewayError) {
    const { status, code, message, details } = outcome
    return { passes: false, status, code, message, ...details.facts }
  }
  return {
    passes: true,
    held: formatUsd(outcome.amountNanodollars),
    output_tokens: outcome.outputTokens,
    capped: outcome.capped,
  }
}
