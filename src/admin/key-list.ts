// The overview of keys, a page at a time. What has to look at every key is remembered for a moment: the counts above the
// list, and the orders that no column of a key has.
import { csvText } from '../core/csv.ts'
import { pieces } from '../core/pieces.ts'
import { masksOf } from '../core/secret.ts'
import { costsByDay, dearestKeys } from '../ledger/usage.ts'
import { readRevision } from '../store/changes.ts'
import { readFrame, type Frame } from '../store/frame.ts'
import {
  countKeys,
  countMatching,
  keysByModelCount,
  lastDays,
  matchingIds,
  searchKeys,
  type KeyCounts,
  type KeyFilter,
} from '../store/key-search.ts'
import { findKeys } from '../store/keys.ts'
import { shownSecrets } from '../store/shown-secrets.ts'
import type { KeyRow } from './contract/key.ts'
import type { KeyFilters, KeyPage, KeyQuery } from './contract/keys.ts'
import { frameAnswerOf, keyRowOf } from './key-answers.ts'
import type { AdminParts } from './parts.ts'
import { iso } from './values.ts'

const COUNTS_MS_MAX = 5_000
const RANKING_MS_MAX = 60_000
const EXPORTED_MAX = 100_000
const COST_DAYS = 7
const LOOKED_AT_FIRST = 1_000

type Totals = {
  readonly at: number
  readonly revision: number
  readonly counts: KeyCounts
  readonly allocatedNanodollars: bigint
}

/** Orders that take longer to make than a page may take. */
type Ranked = 'cost_7d' | 'models'
type Ranking = { readonly at: number; readonly ids: Promise<readonly string[]> }

export class KeyList {
  readonly #parts: AdminParts
  #totals: Totals | undefined
  readonly #rankings = new Map<Ranked, Ranking>()

  constructor(parts: AdminParts) {
    this.#parts = parts
  }

  async page({ page, per_page, ...filters }: KeyQuery): Promise<KeyPage> {
    const { store, clock } = this.#parts
    const slice = { limit: per_page, offset: (page - 1) * per_page }
    const ids = await this.#ids(filters, slice)
    const filter = this.#filter(filters)
    const { counts, frame } = await this.#above()
    return {
      keys: await this.#rows(ids, frame),
      page,
      per_page,
      total: knownCount(filter, counts) ?? (await countMatching(store, filter)),
      counts,
      frame: frameAnswerOf(frame, clock.now()),
      as_of: iso(clock.now()),
    }
  }

  async csv(filters: KeyFilters): Promise<string> {
    const frame = await readFrame(this.#parts.store)
    const ids = await this.#ids(filters, { limit: EXPORTED_MAX, offset: 0 })
    const lines: (string | number | null)[][] = []
    for (const piece of pieces(ids, 500)) {
      const rows = await this.#rows(piece, frame)
      lines.push(...rows.map((row) => [...EXPORTED.map((name) => row[name]), row.cost_7d.total]))
    }
    return csvText([...EXPORTED, 'cost_7d'], lines)
  }

  async #ids(
    filters: KeyFilters,
    slice: { readonly limit: number; readonly offset: number },
  ): Promise<readonly string[]> {
    const { sort, order } = filters
    const filter = this.#filter(filters)
    if (sort === 'cost_7d' || sort === 'models') {
      return this.#idsByRank(await this.#ranked(sort, order), filter, slice)
    }
    return searchKeys(this.#parts.store, { filter, sort, order, ...slice })
  }

  /** In the words of the store, with the secrets that a search may mean. */
  #filter({ sort: _sort, order: _order, ...filter }: KeyFilters): KeyFilter {
    if (filter.search === undefined) return filter
    return { ...filter, masks: masksOf(filter.search.trim(), this.#parts.secretPrefix()) }
  }

  /** Those with a rank in their order, then the others. */
  async #idsByRank(
    ranked: readonly string[],
    filter: KeyFilter,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<readonly string[]> {
    const end = offset + limit
    if (isEmpty(filter) && end <= ranked.length) return ranked.slice(offset, end)
    const { store } = this.#parts
    // The first pages of a filter that lets most keys through are among the first in rank.
    const first = ranked.slice(0, LOOKED_AT_FIRST)
    const among = new Set(first.length === 0 ? [] : await matchingIds(store, filter, first))
    if (among.size >= end) return first.filter((id) => among.has(id)).slice(offset, end)
    const all = new Set(await matchingIds(store, filter))
    const found = ranked.filter((id) => all.delete(id))
    return [...found, ...all].slice(offset, end)
  }

  /** The order of a minute ago is told at once, and a new one made for the next who asks. */
  async #ranked(sort: Ranked, order: 'asc' | 'desc'): Promise<readonly string[]> {
    const { store, clock } = this.#parts
    const now = clock.now()
    let ranking = this.#rankings.get(sort)
    if (ranking === undefined || now - ranking.at >= RANKING_MS_MAX) {
      const ids =
        sort === 'models' ? keysByModelCount(store) : dearestKeys(store, lastDays(now, COST_DAYS))
      const next = { at: now, ids }
      this.#rankings.set(sort, next)
      // Whoever waits for it is told; the next one asks again.
      ids.catch(() => this.#rankings.delete(sort))
      ranking ??= next
    }
    const ids = await ranking.ids
    return order === 'desc' ? ids : ids.toReversed()
  }

  /** Counted anew after every change that people make, else every few seconds. */
  async #above(): Promise<{ readonly counts: KeyCounts; readonly frame: Frame }> {
    const { store, clock } = this.#parts
    const revision = await readRevision(store)
    const known = this.#totals
    const isFresh = known?.revision === revision && clock.now() - known.at < COUNTS_MS_MAX
    if (isFresh) {
      const frame = await readFrame(store, known.allocatedNanodollars)
      return { counts: known.counts, frame }
    }
    const counts = await countKeys(store)
    const frame = await readFrame(store)
    const { allocatedNanodollars } = frame
    this.#totals = { at: clock.now(), revision, counts, allocatedNanodollars }
    return { counts, frame }
  }

  async #rows(ids: readonly string[], frame: Frame): Promise<KeyRow[]> {
    const { store, clock, catalog } = this.#parts
    const now = clock.now()
    const keys = await findKeys(store, ids)
    const secrets = await shownSecrets(store, ids)
    const days = lastDays(now, COST_DAYS)
    const costs = await costsByDay(store, ids, days)
    return keys.map((key) => {
      const around = { frame, catalog: catalog(), secrets: secrets.get(key.id), now }
      return keyRowOf(key, around, costs.get(key.id) ?? [])
    })
  }
}

const EXPORTED = [
  ...(['id', 'name', 'mode', 'status', 'state', 'environment', 'owner', 'budget'] as const),
  ...(['period', 'spent', 'held', 'remaining', 'resets_at', 'model_count'] as const),
  ...(['rpm', 'tpm', 'concurrency', 'created_at', 'expires_at', 'last_used_at'] as const),
]

function isEmpty(filter: KeyFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** What a filter finds when it is one of those that are counted anyway. */
function knownCount(filter: KeyFilter, counts: KeyCounts): number | undefined {
  const { status, concern, ...rest } = filter
  if (!isEmpty(rest)) return undefined
  if (status === undefined) return concern === undefined ? counts.all : counts[concern]
  if (concern !== undefined) return undefined
  return status === 'current' ? counts.all - counts.revoked : counts[status]
}
