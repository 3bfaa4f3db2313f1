// Whether a call with a key would pass now, and every limit that could stop it. Decided by the code that decides about
// real calls, in a dry run.
import { noModelAllowed } from '../access/permit.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { sentence } from '../core/sentences.ts'
import { iso, usd } from '../core/units.ts'
import type { Balance, Balances } from '../ledger/ledger.ts'
import { partOfFrame, readFrame } from '../store/frame.ts'
import { findKey, type Key } from '../store/keys/keys.ts'
import type { Verdict } from './contract/calls.ts'
import { AdminError } from './error.ts'
import type { AdminParts } from './parts.ts'
import { firstModel, refusal } from './playground.ts'
import { shortageOf } from './shortage.ts'
import { formatOf, runTrial } from './trial.ts'

/** A short answer: what stops this call stops nearly every call. */
const OUTPUT_TOKENS = 256

export async function verdictOf(
  parts: AdminParts,
  keyId: string,
  asked: string | undefined,
): Promise<Verdict> {
  const key = await findKey(parts.store, keyId)
  const balances = await parts.flow.ledger.balances(keyId)
  if (balances === undefined) throw new AdminError('not_found', sentence('no_such_key'))
  const frame = await readFrame(parts.store)
  const model = asked ?? firstModel(parts, key) ?? ''
  return {
    model: model === '' ? null : model,
    endpoint: formatOf(parts, { key, model }),
    ...(model === '' ? noModel() : await forecast(parts, key, model)),
    key: balanceJson(balances.key),
    frame: {
      ...balanceJson(balances.frame),
      own: usd(partOfFrame(key, frame)),
      timezone: frame.timezone,
    },
    rates: ratesJson(balances),
  }
}

type Told = Pick<Verdict, 'passes' | 'blocked_by' | 'worst_case' | 'target'>
type BlockedBy = NonNullable<Verdict['blocked_by']>

/** Without a model there is no call to try. */
function noModel(): Told {
  const blocked_by = blockedBy(noModelAllowed())
  return { passes: false, blocked_by, worst_case: null, target: null }
}

async function forecast(parts: AdminParts, key: Key, model: string): Promise<Told> {
  const messages = [{ role: 'user', content: 'Hello' }] as const
  const trial = { key, model, messages, outputTokensMax: OUTPUT_TOKENS, isDryRun: true }
  const outcome = await runTrial(parts, newId('req', parts.clock), trial).catch(refusal)
  if (outcome instanceof GatewayError) {
    return { passes: false, blocked_by: blockedBy(outcome), worst_case: null, target: null }
  }
  const told = outcome.body as DryRun
  const { passes, worst_case, target } = told
  if (passes) return { passes, blocked_by: null, worst_case, target }
  const { code, status, message } = told
  return { passes, blocked_by: { code, status, message, ...factsOf(told) }, worst_case, target }
}

function blockedBy({ publicCode: code, status, message, details }: GatewayError): BlockedBy {
  return { code, status, message, ...factsOf(details.facts ?? {}) }
}

/** The answer of exchange/dry-run.ts. */
type DryRun = Facts & {
  readonly passes: boolean
  readonly worst_case: string
  readonly target: string | null
  readonly code: string
  readonly status: number
  readonly message: string
}

type Facts = Readonly<Record<string, unknown>>

function factsOf(facts: Facts): Pick<BlockedBy, 'scope' | 'resets_at' | 'shortage'> {
  const { scope, resets_at } = facts
  return {
    scope: scope === 'key' || scope === 'frame' ? scope : null,
    resets_at: typeof resets_at === 'string' ? resets_at : null,
    shortage: shortageOf(facts),
  }
}

function balanceJson(balance: Balance): Verdict['key'] {
  return {
    limit: usd(balance.limitNanodollars),
    spent: usd(balance.spentNanodollars),
    held: usd(balance.heldNanodollars),
    remaining: usd(balance.remainingNanodollars),
    resets_at: iso(balance.resetsAt),
  }
}

function ratesJson({ requests, tokens, concurrency }: Balances): Verdict['rates'] {
  const rate = (limited: Balances['requests']) =>
    limited === null ? null : { limit: limited.limit, remaining: limited.remaining }
  return {
    rpm: rate(requests),
    tpm: rate(tokens),
    concurrency: { limit: concurrency.limit, in_flight: concurrency.inFlight },
  }
}
