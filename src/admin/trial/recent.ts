// What became of the last calls of a key, and whether one like them would pass now: what applications really ask for says
// more about a key than a call that nobody makes.
import type { Caller } from '../../access/authenticate.ts'
import { refusalOf } from '../../access/refusal.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import type { Endpoint } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { PICO_PER_NANO, type Nanodollars } from '../../core/money.ts'
import { searchUsage } from '../../ledger/reports/requests.ts'
import type { Store } from '../../store/database/store.ts'
import { TAKEN_OVER } from '../../store/database/tables.ts'
import { listRefusals } from '../../store/refusals.ts'
import type { AdminParts } from '../http/request.ts'

const CALLS_MAX = 20

type RecentCall = {
  readonly id: string
  readonly outcome: 'succeeded' | 'failed' | 'refused'
  readonly code: string | null
  /** What was held for it, or would have been; null where that is not known. */
  readonly holdNanodollars: Nanodollars | null
}

export type RecentCalls = Readonly<Record<RecentCall['outcome'], number>> & {
  readonly calls: number
  /** With which the refused ones were, the newest first. */
  readonly codes: readonly string[]
  /** The middle of what was held for those that cost anything; null = there are none. */
  readonly medianNanodollars: Nanodollars | null
}

/** Of the last 20 calls, those that were refused among them. */
export async function recentCalls(store: Store, keyId: string): Promise<RecentCalls> {
  const last = { keyId, limit: CALLS_MAX }
  const [{ rows }, refusals] = await Promise.all([
    searchUsage(store, last),
    listRefusals(store, last),
  ])
  const admitted = rows.flatMap((row): RecentCall[] => {
    if (row.endpoint === TAKEN_OVER) return []
    const { requestId: id, errorCode: code, heldNanodollars: holdNanodollars } = row
    return [{ id, code, holdNanodollars, outcome: row.status < 400 ? 'succeeded' : 'failed' }]
  })
  const refused = refusals.map((row): RecentCall => ({
    id: row.requestId,
    outcome: 'refused',
    code: row.code,
    holdNanodollars: row.requiredNanodollars,
  }))
  const calls = [...admitted, ...refused]
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, CALLS_MAX)
  const countOf = (outcome: RecentCall['outcome']): number =>
    calls.filter((call) => call.outcome === outcome).length
  const turnedAway = calls.filter(({ outcome }) => outcome === 'refused')
  return {
    calls: calls.length,
    succeeded: countOf('succeeded'),
    failed: countOf('failed'),
    refused: turnedAway.length,
    codes: [...new Set(turnedAway.flatMap(({ code }) => code ?? []))],
    medianNanodollars: medianOf(calls.flatMap(({ holdNanodollars: hold }) => hold || [])),
  }
}

/** The higher of the two in the middle, so that no call in the lower half needs more. */
function medianOf(amounts: readonly Nanodollars[]): Nanodollars | null {
  const sorted = amounts.toSorted((one, other) => (one < other ? -1 : 1))
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

type Like = { readonly caller: Caller; readonly endpoint: Endpoint; readonly model: string }

/** The refusal of a call that could cost as much, by the code that decides about calls; undefined = it would pass. */
export async function refusalOfCost(
  { flow, clock }: AdminParts,
  { caller, endpoint, model }: Like,
  cost: Nanodollars,
): Promise<GatewayError | undefined> {
  // A test key pays nothing, and one that takes shorter answers is given those.
  if (caller.mode === 'test' || caller.whenTight === 'cap') return undefined
  const outcome = await flow.ledger.dryRun({
    ...{ requestId: newId('req', clock), keyId: caller.keyId, endpoint, modelAsked: model },
    ...{ allowVersion: caller.allowVersion, groupId: caller.groupId },
    groupVersion: caller.groupVersion,
    candidates: [{ ...NO_COST, fixedPicodollars: cost * PICO_PER_NANO }],
    whenTight: 'refuse',
    estimatedTokens: 1,
    recounted: true,
  })
  return outcome.reserved ? undefined : refusalOf(caller, outcome)
}
