// Single requests, as the books keep them: the usage row of one, lists of them, their JSON forms, and why a request cost
// what it did.
import { sql } from 'kysely'
import { perMillion, targetName } from '../../catalog/models.ts'
import { costOf, costOfLines, type Cost, type CostLine } from '../../catalog/prices.ts'
import { firstIdAt } from '../../core/ids.ts'
import { formatUsd, PICO_PER_NANO, type Nanodollars } from '../../core/money.ts'
import {
  sentence,
  SENTENCES,
  sentenceWithText,
  type Sentence,
  type SentenceName,
} from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import { WINDOW } from '../../store/accounts/budgets.ts'
import { StoreError } from '../../store/database/errors.ts'
import { isReached } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { TAKEN_OVER } from '../../store/database/tables.ts'
import type { Attempt, AttemptCharge } from '../ledger.ts'
import { legsOf } from '../rules/account.ts'
import { USAGE, type UsageRow } from '../rules/rows.ts'
import { toPrice } from '../rules/validation.ts'

/**
 * Undefined when there is no such request, or its row is past retention. A request ran with its last hold: an earlier
 * one was voided when its node had to join again.
 */
export async function findUsage(store: Store, requestId: string): Promise<UsageRow | undefined> {
  const query = store.db.selectFrom('usage').selectAll().where('request_id', '=', requestId)
  const reached = isReached(store.scope, OF_USAGE)
  const row = await (reached === undefined ? query : query.where(reached))
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row && USAGE.read(row, 0)
}

/** A request stays with the group that it was reserved under, wherever its key goes. */
const OF_USAGE = { group: sql.ref('group_id'), key: sql.ref('key_id') }

type UsagePage = {
  readonly keyId?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: 'ok' | 'failed' | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The request id that the previous page ended with. */
  readonly before?: string | undefined
  readonly limit: number
}

/** How many rows are searched for one page: no index covers models and outcomes. */
const LOOKED_THROUGH_MAX = 20_000

/**
 * Rows, newest first. `next` is where the next page begins; null = there is nothing more. A page may be short and still
 * have a next.
 */
export async function searchUsage(
  store: Store,
  page: UsagePage,
): Promise<{ readonly rows: readonly UsageRow[]; readonly next: string | null }> {
  const { model, outcome, limit } = page
  const isFiltered = model !== undefined || outcome !== undefined
  const lookedAt = inOrder(store, page).limit(isFiltered ? LOOKED_THROUGH_MAX : limit)
  let query = store.db.selectFrom(lookedAt.as('usage')).selectAll()
  if (model !== undefined) query = query.where('model_asked', '=', model)
  if (outcome !== undefined) query = query.where('status', outcome === 'ok' ? '<' : '>=', 400)
  const rows = await query.orderBy('request_id', 'desc').limit(limit).execute()
  if (rows.length === limit) {
    return { rows: rows.map((each) => USAGE.read(each, 0)), next: rows.at(-1)?.request_id ?? null }
  }
  const next = isFiltered ? await lastLookedAt(store, page) : null
  return { rows: rows.map((each) => USAGE.read(each, 0)), next }
}

function inOrder(store: Store, { keyId, before, since, until }: UsagePage) {
  const end = until === undefined ? undefined : firstIdAt('req', until)
  const last = [before, end].filter((id) => id !== undefined).toSorted()[0]
  let query = store.db.selectFrom('usage').selectAll()
  if (keyId !== undefined) query = query.where('key_id', '=', keyId)
  if (since !== undefined) query = query.where('request_id', '>=', firstIdAt('req', since))
  if (last !== undefined) query = query.where('request_id', '<', last)
  const reached = isReached(store.scope, OF_USAGE)
  if (reached !== undefined) query = query.where(reached)
  return query.orderBy('request_id', 'desc')
}

async function lastLookedAt(store: Store, page: UsagePage): Promise<string | null> {
  const row = await inOrder(store, page)
    .clearSelect()
    .select('request_id')
    .offset(LOOKED_THROUGH_MAX - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.request_id ?? null
}

/** What a request's own key may see of it. */
export function requestJson(row: UsageRow) {
  return {
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    status: row.status,
    code: row.errorCode,
    created_at: iso(row.at),
    input_tokens: row.inputTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens,
    output_tokens: row.outputTokens,
    reasoning_tokens: row.reasoningTokens,
    cost: usd(row.costNanodollars),
    estimated: row.estimated,
    latency_ms: row.latencyMs,
    first_token_ms: row.firstTokenMs,
  }
}

/** The provider and the model that answered; null when none did. */
export function targetOf({ provider, modelServed }: UsageRow): string | null {
  const isServed = provider !== null && modelServed !== null
  return isServed ? targetName(provider, modelServed) : null
}

// Why a request cost what it did: the cost recomputed from the tokens and the price that the books keep.

export type Explanation = {
  readonly row: UsageRow
  readonly attempts: readonly Attempt[]
  /** Tokens times price, line by line; empty where no price was involved. */
  readonly lines: readonly CostLine[]
  /** The sum of `lines`, rounded up once; null where something was charged without a price. */
  readonly recomputedNanodollars: Nanodollars | null
  /** Whether that is what was charged, to the nano-dollar. */
  readonly agrees: boolean
  /** In words, how the charge came about. */
  readonly why: string
  /** What people changed about it, oldest first. */
  readonly entries: readonly {
    readonly at: number
    readonly actor: string
    readonly reason: string
    readonly before: Nanodollars | null
    readonly after: Nanodollars | null
  }[]
}

export async function explain(store: Store, requestId: string): Promise<Explanation> {
  const row = await findUsage(store, requestId)
  if (row === undefined) throw new StoreError('unknown_request', await missing(store, requestId))
  const attempts = JSON.parse(row.attempts) as Attempt[]
  const computed = addUp(await recompute(store, row), attempts)
  const agrees = computed !== null && computed.nanodollars === row.costNanodollars
  const entries = await store.db
    .selectFrom('ledger_entries')
    .select(['created_at as at', 'actor', 'reason', 'before_nanodollars', 'after_nanodollars'])
    .where('account_id', '=', row.keyId)
    .where('period_seq', '=', row.keyPeriod)
    .where('hold_id', '=', row.id)
    .orderBy('created_at')
    .execute()
  return {
    row,
    attempts,
    lines: computed?.lines ?? [],
    recomputedNanodollars: computed?.nanodollars ?? null,
    agrees,
    why: why(row, { agrees, attempts }) + beside(attempts),
    entries: entries.map(({ before_nanodollars, after_nanodollars, ...rest }) => ({
      ...rest,
      before: before_nanodollars,
      after: after_nanodollars,
    })),
  }
}

async function recompute(store: Store, row: UsageRow): Promise<Cost | null> {
  if (row.priceVersion === null) return row.costNanodollars === 0n ? NOTHING : null
  const figures = await store.db
    .selectFrom('prices')
    .selectAll()
    .where('version', '=', row.priceVersion)
    .executeTakeFirst()
  return figures === undefined ? null : costOf(row, toPrice(figures))
}

/** A request that cost nothing adds up without a price. */
const NOTHING: Cost = { lines: [], nanodollars: 0n }

/** Adds to the answer's cost what failed attempts may have cost, and what was billed besides tokens. */
function addUp(answer: Cost | null, attempts: readonly Attempt[]): Cost | null {
  const charges = attempts.filter(hasCharge).map(({ charge }) => costOfLines(linesOf(charge)))
  if (answer === null && charges.length === 0) return null
  return [answer ?? NOTHING, ...charges].reduce((sum, cost) => ({
    lines: [...sum.lines, ...cost.lines],
    nanodollars: sum.nanodollars + cost.nanodollars,
  }))
}

/** Whether a target was not called at all, because the budgets had no room for it. */
export function isSkipped(outcome: string): boolean {
  return outcome.startsWith('skipped: ')
}

type ChargedAttempt = Attempt & { readonly charge: AttemptCharge }

function hasCharge(attempt: Attempt): attempt is ChargedAttempt {
  return attempt.charge !== undefined
}

function linesOf({ lines }: AttemptCharge): readonly CostLine[] {
  return lines.map(({ list, ...line }) => ({
    ...line,
    eachPicodollars: BigInt(line.eachPicodollars),
    ...(list && { list: { ...list, eachPicodollars: BigInt(list.eachPicodollars) } }),
  }))
}

/** What was charged besides the answer's tokens, in words. */
function beside(attempts: readonly Attempt[]): string {
  return [
    attempts.filter(hasCharge).some(isSurcharge) ? `; ${SENTENCES.cost_beside_tokens}` : '',
    hasFailed(attempts) ? `; ${SENTENCES.cost_of_failed}` : '',
  ].join('')
}

function hasFailed(attempts: readonly Attempt[]): boolean {
  return attempts.filter(hasCharge).some((attempt) => !isSurcharge(attempt))
}

/** Whether a charge belongs to the answer itself: that of a failed attempt begins with its input. */
function isSurcharge({ charge }: ChargedAttempt): boolean {
  return charge.lines.every(({ what }) => what === 'webSearch' || what === 'audioToken')
}

type Found = { readonly agrees: boolean; readonly attempts: readonly Attempt[] }

function why(row: UsageRow, found: Found): string {
  switch (row.state) {
    case 'voided':
      return SENTENCES.cost_never_sent
    case 'orphaned':
      return SENTENCES.cost_orphaned
    case 'adjusted':
      return SENTENCES.cost_by_hand
    case 'settled':
      return whySettled(row, found)
  }
}

function whySettled(row: UsageRow, { agrees, attempts }: Found): string {
  if (row.endpoint === TAKEN_OVER) return SENTENCES.cost_taken_over
  if (row.attempts === '[]') return SENTENCES.cost_of_free_kind
  if (isUntouched(row)) return SENTENCES.cost_untaken
  if (row.priceVersion === null) return SENTENCES.cost_unanswered
  if (agrees && !row.estimated) return SENTENCES.cost_provider_count
  // The row does not say whether the answer or an earlier attempt was estimated.
  if (agrees) return hasFailed(attempts) ? SENTENCES.cost_counted : SENTENCES.cost_counted_here
  return row.estimated && row.costNanodollars === row.heldNanodollars
    ? SENTENCES.cost_up_to_hold
    : SENTENCES.cost_unexplained
}

/** Whether every target refused the request or could not be reached: no provider read it. */
function isUntouched({ status, costNanodollars, inputTokens, outputTokens }: UsageRow): boolean {
  return status >= 400 && costNanodollars === 0n && inputTokens + outputTokens === 0
}

const OF_HOLD = { group: sql.ref('holds.group_id'), key: sql.ref('holds.key_id') }

async function missing(store: Store, requestId: string): Promise<Sentence> {
  const query = store.db.selectFrom('holds').select('id').where('request_id', '=', requestId)
  const reached = isReached(store.scope, OF_HOLD)
  const hold = await (reached === undefined ? query : query.where(reached)).executeTakeFirst()
  return sentence(hold === undefined ? 'no_such_request' : 'request_running', { id: requestId })
}

/** For the command line and the admin API. */
export function explanationJson({ row, ...rest }: Explanation) {
  return {
    request_id: row.requestId,
    hold: row.id,
    key: row.keyId,
    group: row.groupId,
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    state: row.state,
    status: row.status,
    error: row.errorCode,
    trace_id: row.traceId,
    reserved_at: iso(row.at),
    settled_at: iso(row.settledAt),
    held: usd(row.heldNanodollars),
    cost: usd(row.costNanodollars),
    recomputed: usd(rest.recomputedNanodollars),
    agrees: rest.agrees,
    estimated: row.estimated,
    why: rest.why,
    reasons: reasonsOf(rest.why),
    legs: legsOf(row).map(({ scope, accountId, budget, seq }) => ({
      scope,
      account: accountId,
      window: budget === WINDOW,
      period: seq,
    })),
    price_version: row.priceVersion,
    lines: rest.lines.map((line) => ({
      what: line.what,
      count: line.count,
      price: priceOf(line),
      cost: usd(costOfLines([line]).nanodollars),
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
function priceOf({ what, eachPicodollars }: Omit<CostLine, 'count'>): string {
  const isFee = what === 'request' || what === 'webSearch'
  return isFee ? formatUsd(eachPicodollars / PICO_PER_NANO) : perMillion(eachPicodollars)
}
