// `x-tollgate-dry-run: 1`: what would happen to this request, told by the code that decides, without doing it.
import type { AdmissionParts, AdmissionRequest } from '../access/admit.ts'
import { forecast } from '../access/admit.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { formatUsd } from '../core/money.ts'
import type { Prepared } from './prepare.ts'
import { nameOf, withoutSearches } from './prepare.ts'

export async function dryRun(
  parts: AdmissionParts,
  request: AdmissionRequest,
  prepared: readonly Prepared[],
): Promise<JsonObject> {
  const { worstCaseNanodollars, outcome, maySearch } = await forecast(parts, request)
  const [first] = maySearch ? prepared : prepared.map(withoutSearches)
  const told = {
    object: 'tollgate.dry_run',
    model: request.call.model,
    target: first === undefined ? null : nameOf(first),
    dropped: first?.dropped ?? [],
    worst_case: formatUsd(worstCaseNanodollars),
  }
  if (outcome instanceof GatewayError) {
    const { status, code, message, details } = outcome
    return { ...told, passes: false, status, code, message, ...details.facts }
  }
  return {
    ...told,
    passes: true,
    held: formatUsd(outcome.amountNanodollars),
    output_tokens: outcome.outputTokens,
    capped: outcome.capped,
  }
}
