// The overview of keys, a page at a time. Results that require reading every key are cached: the figures above the list
// and the number of keys that match a filter for at most 5 s, the order by cost for at most 10 minutes.
import { isEmpty } from '../../core/json.ts'
import { masksOf } from '../../core/secret.ts'
import { chunk, csvText } from '../../core/text.ts'
import { iso } from '../../core/units.ts'
import { costsByDay, dearestKeys, lastDays } from '../../ledger/reports/rollups.ts'
import { readRevision } from '../../store/database/revision.ts'
import { scopeName } from '../../store/database/store.ts'
import type { Store } from '../../store/database/store.ts'
import { readFrame, type Frame } from '../../store/frame.ts'
import { exhaustedGroups } from '../../store/groups/groups.ts'
import { countKeys, type KeyCounts, type KeyTotals } from '../../store/keys/counts.ts'
import { findKeys, OUTSIDE_GROUPS, type Key } from '../../store/keys/keys.ts'
import {
  countMatching,
  FEW_MAX,
  fewMatching,
  inAnySpelling,
  lastRefusals,
  matchingIds,
  searchKeys,
  type KeyFilter,
  type Slice,
} from '../../store/keys/search.ts'
import { shownSecrets } from '../../store/keys/secrets.ts'
import type { KeyFilters, KeyPage, KeyQuery, KeyRow } from '../contract/keys.ts'
import type { AdminParts } from '../http/request.ts'
import { frameAnswerOf, frameStateOf, keyRowOf } from './form.ts'

const TOTALS_MS_MAX = 5_000
/** After a minute a new order is computed; until RANKING_MS_MAX the old one is served meanwhile. */
const RANKING_MS = 60_000
const RANKING_MS_MAX = 10 * 60_000
const EXPORTED_MAX = 100_000
const COST_DAYS = 7
/** Of so many the figures are kept at a time. */
const SCOPES_MAX = 200

type Totals = KeyTotals & {
  readonly at: number
  readonly revision: number
  /** The number of keys that match, by filter. */
  readonly matching: Map<string, number>
}

type Wanted = Pick<KeyFilters, 'sort' | 'order'> & {
  readonly filter: KeyFilter
  readonly slice: Slice & { readonly total?: number }
}

type Shown = { readonly frame: Frame; readonly areModelsShown?: boolean }

/** All keys with a cost, the most expensive first. */
type Ranking = { readonly at: number; readonly ids: Promise<readonly string[]> }

export class KeyList {
  readonly #parts: AdminParts
  /** By what is reached. */
  #totals = new Map<string, Totals>()
  #ranking: Ranking | undefined

  constructor(parts: AdminParts) {
    this.#parts = parts
  }

  async page(store: Store, query: KeyQuery): Promise<KeyPage> {
    const { page, per_page, with: more, ...filters } = query
    const { clock } = this.#parts
    const totals = await this.#freshTotals(store)
    const { counts, allocatedNanodollars } = totals
    const frame = await readFrame(store)
    const found = await this.#found(store, await this.#filter(store, filters), totals)
    const slice = { limit: per_page, offset: (page - 1) * per_page, total: found.count }
    const ids = await this.#ids(store, { ...filters, filter: found.filter, slice })
    const isFrameShown = store.scope === 'everywhere'
    return {
      keys: await this.#rows(store, ids, { frame, areModelsShown: more === 'models' }),
      page,
      per_page,
      total: found.count,
      counts,
      frame: isFrameShown ? frameAnswerOf(frame, allocatedNanodollars, clock.now()) : null,
      frame_state: frameStateOf(frame),
      as_of: iso(clock.now()),
    }
  }

  async csv(store: Store, filters: KeyFilters): Promise<string> {
    const frame = await readFrame(store)
    const slice = { limit: EXPORTED_MAX, offset: 0 }
    const filter = await this.#filter(store, filters)
    const ids = await this.#ids(store, { ...filters, filter, slice })
    const lines: (string | number | null)[][] = []
    for (const part of chunk(ids, 500)) {
      const rows = await this.#rows(store, part, { frame })
      lines.push(...rows.map(exported))
    }
    return csvText([...EXPORTED, 'group', 'tags', 'cost_7d'], lines)
  }

  /** The store's filter, with the masked secrets that a search text may match. */
  async #filter(store: Store, filters: KeyFilters): Promise<KeyFilter> {
    const { sort: _sort, order: _order, group, owner_person: ownerPersonId, ...same } = filters
    const groupId = group && [group].flat().map((id) => (id === OUTSIDE_GROUPS ? null : id))
    const filter = await inAnySpelling(store, { ...same, groupId, ownerPersonId })
    if (filter.search === undefined) return filter
    return { ...filter, masks: masksOf(filter.search.trim(), this.#parts.secretPrefix()) }
  }

  /** How many keys match; if they are few, also which, so that they need not be searched again. */
  async #found(
    store: Store,
    filter: KeyFilter,
    { counts, matching }: Totals,
  ): Promise<{ readonly count: number; readonly filter: KeyFilter }> {
    const name = JSON.stringify(filter)
    const known = knownCount(filter, counts) ?? matching.get(name)
    if (known !== undefined && known > FEW_MAX) return { count: known, filter }
    const ids = await fewMatching(store, filter)
    if (ids !== undefined) return { count: ids.length, filter: { ids } }
    const count = known ?? (await countMatching(store, filter))
    matching.set(name, count)
    return { count, filter }
  }

  async #ids(store: Store, { sort, order, filter, slice }: Wanted): Promise<readonly string[]> {
    const { clock } = this.#parts
    if (filter.ids?.length === 0) return []
    if (sort !== 'cost_7d') return searchKeys(store, { filter, sort, order, ...slice })
    const isRanked = filter.ids === undefined && store.scope === 'everywhere'
    if (isRanked) return this.#idsByRank(order, filter, slice)
    const ids = filter.ids ?? (await matchingIds(store, filter))
    if (ids.length === 0) return []
    const dearest = await dearestKeys(store, lastDays(clock.now(), COST_DAYS), ids)
    return inRank(order === 'desc' ? dearest : dearest.toReversed(), ids, slice)
  }

  /** The ranked keys in order, then the others. */
  async #idsByRank(
    order: 'asc' | 'desc',
    filter: KeyFilter,
    slice: Slice,
  ): Promise<readonly string[]> {
    const { store } = this.#parts
    const ids = await this.#ranked()
    const ranked = order === 'desc' ? ids : ids.toReversed()
    const end = slice.offset + slice.limit
    if (isEmpty(filter) && end <= ranked.length) return ranked.slice(slice.offset, end)
    // If a filter matches many keys, its first pages are usually found among the first in rank.
    const first = ranked.slice(0, FEW_MAX)
    if (first.length > 0) {
      const among = await fewMatching(store, { ...filter, ids: first })
      if (among !== undefined && among.length >= end) return inRank(first, among, slice)
    }
    return inRank(ranked, await matchingIds(store, filter), slice)
  }

  async #ranked(): Promise<readonly string[]> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const old = this.#ranking
    if (old !== undefined && now - old.at < RANKING_MS) return old.ids
    const next = { at: now, ids: dearestKeys(store, lastDays(now, COST_DAYS)) }
    this.#ranking = next
    // Callers already waiting get the error; the next call tries again.
    next.ids.catch(() => (this.#ranking = undefined))
    return old !== undefined && now - old.at < RANKING_MS_MAX ? old.ids : next.ids
  }

  /** Recounted after every change that people make, else every few seconds. */
  async #freshTotals(store: Store): Promise<Totals> {
    const { clock } = this.#parts
    const revision = await readRevision(store)
    const name = scopeName(store.scope)
    const known = this.#totals.get(name)
    const isFresh = known?.revision === revision && clock.now() - known.at < TOTALS_MS_MAX
    if (isFresh) return known
    const at = clock.now()
    const totals = { ...(await countKeys(store)), at, revision, matching: new Map() }
    if (this.#totals.size >= SCOPES_MAX) this.#totals.clear()
    this.#totals.set(name, totals)
    return totals
  }

  async #rows(store: Store, ids: readonly string[], shown: Shown): Promise<KeyRow[]> {
    const { clock, catalog } = this.#parts
    const { scope } = store
    const now = clock.now()
    const days = lastDays(now, COST_DAYS)
    const [keys, secrets, costs, refused] = await Promise.all([
      findKeys(store, ids),
      shownSecrets(store, ids),
      costsByDay(store, ids, days),
      lastRefusals(store, ids),
    ])
    const exhausted = await exhaustedGroups(store, groupsOf(keys))
    return keys.map((key) => {
      const around = {
        ...shown,
        scope,
        isGroupExhausted: exhausted.has(key.groupId ?? ''),
        catalog: catalog(),
        secrets: secrets.get(key.id),
        refusedWith: refused.get(key.id),
        now,
      }
      return keyRowOf(key, around, costs.get(key.id) ?? [])
    })
  }
}

function groupsOf(keys: readonly Key[]): readonly string[] {
  return [...new Set(keys.flatMap(({ groupId }) => groupId ?? []))]
}

const EXPORTED = [
  'id',
  'name',
  'mode',
  'status',
  'state',
  'environment',
  'owner',
  'budget',
  'period',
  'spent',
  'held',
  'remaining',
  'resets_at',
  'model_count',
  'rpm',
  'tpm',
  'concurrency',
  'created_at',
  'expires_at',
  'last_used_at',
] as const

function exported(row: KeyRow): (string | number | null)[] {
  const { group, tags, cost_7d: cost } = row
  return [...EXPORTED.map((name) => row[name]), group?.name ?? null, tags.join(', '), cost.total]
}

/** The number of matches, for filters that are counted anyway. */
function knownCount(filter: KeyFilter, counts: KeyCounts): number | undefined {
  const { status, concern, ...rest } = filter
  if (!isEmpty(rest)) return undefined
  if (status === undefined) return concern === undefined ? counts.all : counts[concern]
  if (concern !== undefined) return undefined
  return status === 'current' ? counts.all - counts.revoked : counts[status]
}

/** The ranked ones among `ids` in order, then the others. */
function inRank(
  ranked: readonly string[],
  ids: readonly string[],
  { limit, offset }: Slice,
): readonly string[] {
  const others = new Set(ids)
  const found = ranked.filter((id) => others.delete(id))
  return [...found, ...others].slice(offset, offset + limit)
}
