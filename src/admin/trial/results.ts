// Calls that people make to try a key or a model, with their outcome and cost; and whether a call would pass now, with
// every limit that could stop it, decided by the code that decides about real calls, in a dry run.
import { callerOfKey, type Caller, noModelAllowed } from '../../access/authenticate.ts'
import { refusalOf } from '../../access/refusal.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import type { Endpoint } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { parseUsd, PICO_PER_NANO, type Nanodollars } from '../../core/money.ts'
import { PERIODS } from '../../core/periods.ts'
import { sentence } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import type { Balance, Balances } from '../../ledger/ledger.ts'
import { findUsage, searchUsage, targetOf } from '../../ledger/reports/requests.ts'
import { leastRemaining, remainingBelowFrame } from '../../ledger/rules/account.ts'
import type { Store } from '../../store/database/store.ts'
import { TAKEN_OVER } from '../../store/database/tables.ts'
import { partOfFrame, readFrame } from '../../store/frame.ts'
import { findGroup } from '../../store/groups/groups.ts'
import { callableModels, findKey, type Key } from '../../store/keys/keys.ts'
import { listRefusals } from '../../store/refusals.ts'
import { CODECS } from '../../wire/codecs.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import { SCOPES, type CallResult, type Shortage, type Verdict } from '../contract/trial.ts'
import type { AdminParts } from '../http/request.ts'
import {
  formatOf,
  runTrial,
  textOf,
  type TrialReply,
  type TrialRequest,
  WholeReply,
} from './run.ts'

/** Enough for a model that reasons first to get a word out. */
const TEST_OUTPUT_TOKENS = 512

/** The smallest call that shows whether a key works, with the first model of its allowlist unless one is named. */
export async function testCall(
  parts: AdminParts,
  keyId: string,
  asked: string | undefined,
): Promise<CallResult> {
  const key = await findKey(parts.store, keyId)
  const model = asked ?? firstModel(parts, key)
  if (model === undefined) throw invalidValue('model', sentence('key_without_model'))
  const trial = {
    ...{ requestId: newId('req', parts.clock), key, model, isDryRun: false },
    messages: [{ role: 'user' as const, content: 'Answer with the word "ready".' }],
    max_tokens: TEST_OUTPUT_TOKENS,
  }
  const reply = new WholeReply()
  const text = (): string | null =>
    textOf(CODECS[formatOf(parts, trial)].decodeResponse(reply.body))
  return attempt(parts, trial, { reply, text })
}

/** Prefers a model that is available now. */
function firstModel({ catalog }: AdminParts, key: Key): string | undefined {
  const models = callableModels(key)
  return models.find((model) => catalog().get(model)?.available === true) ?? models[0]
}

type Answering = { readonly reply: TrialReply; readonly text: () => string | null }

/** Makes the call. What its key was refused is a result, too. */
export async function attempt(
  parts: AdminParts,
  trial: TrialRequest,
  { reply, text }: Answering,
): Promise<CallResult> {
  const startedMs = parts.clock.monotonicMs()
  const failed = await runTrial(parts, trial, reply).catch(refusal)
  // A refused call has no row.
  const row = await findUsage(parts.store, trial.requestId)
  return {
    request_id: trial.requestId,
    model: trial.model,
    passes: failed === undefined,
    status: failed?.status ?? 200,
    error: failed === undefined ? null : errorJson(failed),
    text: failed === undefined ? text() : null,
    target: row === undefined ? null : targetOf(row),
    input_tokens: row?.inputTokens ?? 0,
    output_tokens: row?.outputTokens ?? 0,
    cost: usd(row?.costNanodollars ?? 0n),
    latency_ms: Math.round(parts.clock.monotonicMs() - startedMs),
    first_token_ms: row?.firstTokenMs ?? null,
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
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const asked = { requestId: newId('req', parts.clock), key, model, messages, isDryRun: true }
  const reply = new WholeReply()
  const run = () => runTrial(parts, { ...asked, max_tokens: OUTPUT_TOKENS }, reply).catch(refusal)
  // Without a model there is no call to try.
  const refused = model === '' ? noModelAllowed(key.group && key.group.name) : await run()
  if (refused !== undefined)
    return { passes: false, blocked_by: blockedBy(refused), worst_case: null, target: null }
  const told = reply.body as DryRun
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

// The last calls of a key, and whether one like them would pass now: what applications really ask for says more about a
// key than a call that nobody makes.

const CALLS_MAX = 20

type RecentCall = {
  readonly id: string
  readonly outcome: 'succeeded' | 'failed' | 'refused'
  readonly code: string | null
  /** What was held for it, or would have been; null where that is not known. */
  readonly holdNanodollars: Nanodollars | null
}

type RecentCalls = Readonly<Record<RecentCall['outcome'], number>> & {
  readonly calls: number
  /** With which the refused ones were, the newest first. */
  readonly codes: readonly string[]
  /** The middle of what was held for those that cost anything; null = there are none. */
  readonly medianNanodollars: Nanodollars | null
}

/** Of the last 20 calls, those that were refused among them. */
async function recentCalls(store: Store, keyId: string): Promise<RecentCalls> {
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
async function refusalOfCost(
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
