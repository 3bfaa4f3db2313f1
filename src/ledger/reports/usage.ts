// Reads usage rows: one request's, and lists. And their JSON forms.
import { sql } from 'kysely'
import { targetName } from '../../catalog/models.ts'
import { firstIdAt } from '../../core/ids.ts'
import { iso, usd } from '../../core/units.ts'
import { isReached } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { USAGE, type UsageRow } from '../rules/rows.ts'

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
