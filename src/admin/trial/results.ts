// Calls that people make to try a key or a model, with their outcome and cost; and whether a call would pass now, with
// every limit that could stop it, decided by the code that decides about real calls, in a dry run.
import { callerOfKey } from '../../access/authenticate.ts'
import { noModelAllowed } from '../../access/permit.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { parseUsd } from '../../core/money.ts'
import { PERIODS } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import type { Balance, Balances } from '../../ledger/ledger.ts'
import { findUsage, targetOf } from '../../ledger/reports/usage.ts'
import { leastRemaining, remainingBelowFrame } from '../../ledger/rules/account.ts'
import { partOfFrame, readFrame } from '../../store/frame.ts'
import { findGroup } from '../../store/groups/groups.ts'
import { callableModels, findKey, type Key } from '../../store/keys/keys.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import { SCOPES } from '../contract/trial.ts'
import type { CallResult, playgroundRoutes, Shortage, Verdict } from '../contract/trial.ts'
import { partsOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { recentCalls, refusalOfCost, type RecentCalls } from './recent.ts'
import { formatOf, runTrial, textOf, type TrialRequest } from './run.ts'

const PLAY_OUTPUT_TOKENS = 4_096
/** Enough for a model that reasons first to get a word out. */
const TEST_OUTPUT_TOKENS = 512

export function playgroundHandlers(parts: AdminParts): HandlersOf<typeof playgroundRoutes> {
  return {
    play: async (request) => {
      const { body } = request
      const within = partsOf(parts, request)
      const { model, messages, max_tokens = PLAY_OUTPUT_TOKENS, temperature } = body
      const key = await findKey(within.store, body.key)
      return call(within, { key, model, messages, outputTokensMax: max_tokens, temperature })
    },
  }
}

/** The smallest call that shows whether a key works, with the first model of its allowlist unless one is named. */
export async function testCall(
  parts: AdminParts,
  keyId: string,
  asked: string | undefined,
): Promise<CallResult> {
  const key = await findKey(parts.store, keyId)
  const model = asked ?? firstModel(parts, key)
  if (model === undefined) throw invalidValue('model', sentence('key_without_model'))
  const messages = [{ role: 'user', content: 'Answer with the word "ready".' }] as const
  return call(parts, { key, model, messages, outputTokensMax: TEST_OUTPUT_TOKENS })
}

/** Prefers a model that is available now. */
function firstModel({ catalog }: AdminParts, key: Key): string | undefined {
  const models = callableModels(key)
  return models.find((model) => catalog().get(model)?.available === true) ?? models[0]
}

async function call(parts: AdminParts, trial: Omit<TrialRequest, 'isDryRun'>): Promise<CallResult> {
  const requestId = newId('req', parts.clock)
  const startedMs = parts.clock.monotonicMs()
  const outcome = await runTrial(parts, requestId, { ...trial, isDryRun: false }).catch(refusal)
  const failed = outcome instanceof GatewayError ? outcome : undefined
  // A refused call has no row.
  const row = await findUsage(parts.store, requestId)
  return {
    request_id: requestId,
    model: trial.model,
    passes: failed === undefined,
    status: failed?.status ?? 200,
    error: failed === undefined ? null : errorJson(failed),
    text: outcome instanceof GatewayError ? null : textOf(outcome),
    target: row === undefined ? null : targetOf(row),
    input_tokens: row?.inputTokens ?? 0,
    output_tokens: row?.outputTokens ?? 0,
    cost: usd(row?.costNanodollars ?? 0n),
    latency_ms: Math.round(parts.clock.monotonicMs() - startedMs),
  }
}

function errorJson({ publicCode: code, message, details }: GatewayError) {
  return { code, message, shortage: shortageOf(details.facts) }
}

/** An error that the data plane would answer with is a result here; anything else is a fault. */
function refusal(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  throw thrown
}

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
  const { timezone } = frame
  const isFrameShown = parts.store.scope === 'everywhere'
  const model = asked ?? firstModel(parts, key) ?? ''
  const recent = await recentCalls(parts.store, keyId)
  return {
    model: model === '' ? null : model,
    endpoint: formatOf(parts, { key, model }),
    ...(await forecastLike(parts, key, { model, recent })),
    recent: recentJson(recent),
    remaining: usd((isFrameShown ? leastRemaining : remainingBelowFrame)(balances, model)),
    key: balanceJson(balances.key),
    group: await groupJson(parts, balances),
    frame: isFrameShown
      ? { ...balanceJson(balances.frame), own: usd(partOfFrame(key, frame)), timezone }
      : null,
    rates: ratesJson(balances),
  }
}

type Told = Pick<Verdict, 'passes' | 'blocked_by' | 'worst_case' | 'target'>
type BlockedBy = NonNullable<Verdict['blocked_by']>

/** For a small call and, if that passes, for one like the key's last calls. */
async function forecastLike(
  parts: AdminParts,
  key: Key,
  { model, recent }: { readonly model: string; readonly recent: RecentCalls },
): Promise<Told> {
  const told = await forecast(parts, key, model)
  const { medianNanodollars: median } = recent
  if (!told.passes || median === null) return told
  const like = {
    caller: await callerOfKey(parts.store, key.id),
    endpoint: formatOf(parts, { key, model }),
    model,
  }
  const refused = await refusalOfCost(parts, like, median)
  const worst_case = usd(median)
  if (refused === undefined) return { ...told, worst_case }
  return { ...told, passes: false, blocked_by: blockedBy(refused), worst_case }
}

function recentJson({ medianNanodollars, codes, ...counts }: RecentCalls): Verdict['recent'] {
  return { ...counts, codes: [...codes], median_hold: usd(medianNanodollars) }
}

function blockedBy({ publicCode: code, status, message, details }: GatewayError): BlockedBy {
  return { code, status, message, ...factsOf(details.facts ?? {}) }
}

async function forecast(parts: AdminParts, key: Key, model: string): Promise<Told> {
  const messages = [{ role: 'user', content: 'Hello' }] as const
  const trial = { key, model, messages, outputTokensMax: OUTPUT_TOKENS, isDryRun: true }
  const run = () => runTrial(parts, newId('req', parts.clock), trial).catch(refusal)
  // Without a model there is no call to try.
  const outcome = model === '' ? noModelAllowed(key.group && key.group.name) : await run()
  if (outcome instanceof GatewayError) {
    return { passes: false, blocked_by: blockedBy(outcome), worst_case: null, target: null }
  }
  const told = outcome.body as DryRun
  const { passes, worst_case, target } = told
  if (passes) return { passes, blocked_by: null, worst_case, target }
  const { code, status, message } = told
  return { passes, blocked_by: { code, status, message, ...factsOf(told) }, worst_case, target }
}

/** What a dry run answers. */
type DryRun = Facts & {
  readonly passes: boolean
  readonly worst_case: string
  readonly target: string | null
  readonly code: string
  readonly status: number
  readonly message: string
}

type Facts = Readonly<Record<string, unknown>>

function factsOf(facts: Facts): Pick<BlockedBy, 'scope' | 'period' | 'resets_at' | 'shortage'> {
  const { scope, period, resets_at } = facts
  return {
    scope: SCOPES.find((each) => each === scope) ?? null,
    period: PERIODS.find((each) => each === period) ?? null,
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

async function groupJson(
  { store }: AdminParts,
  { groupId, group }: Balances,
): Promise<Verdict['group']> {
  if (groupId === null || group === null) return null
  const { id, name, timezone } = await findGroup(store, groupId)
  return { ...balanceJson(group), id, name, timezone }
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

/** How much budget a refused call lacked, from the facts of the refusal; null if that was not about a budget. */
function shortageOf(facts: Facts = {}): Shortage | null {
  const { limit, spent, required, affordable_output_tokens: tokens } = facts
  if (typeof limit !== 'string' || typeof spent !== 'string' || typeof required !== 'string')
    return null
  const left = parseUsd(limit) - parseUsd(spent)
  return {
    required,
    remaining: usd(left > 0n ? left : 0n),
    affordable_output_tokens: typeof tokens === 'number' ? tokens : null,
  }
}
