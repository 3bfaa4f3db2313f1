// What a journal keeps of a batch: its items with the answers they got, as one line of JSON, and how they are carried out
// again, in the database this time. Nothing is judged twice: what was granted is granted, under the limits of then.
import type { Columns, Layout, Packed } from '../../store/database/layout.ts'
import { integer, layout, money, nullable, packAmount, text } from '../../store/database/layout.ts'
import type { HoldId, Refusable } from '../ledger.ts'
import type { Batch, Item, OnHold, Outcome } from './batch.ts'
import { accountsOf, growHold, isDemand, keyOf, openHold, release, type Release } from './decide.ts'
import { CHARGE, HOLD, PRICE, type Hold, type PriceRow } from './rows.ts'
import type { Limit, WorkingSet } from './working-set.ts'

/** A batch that was decided, in the order in which it was. */
export type JournalRecord = {
  /** When it was decided. */
  readonly now: number
  /** Accounts of which a period began with it. */
  readonly opened: readonly string[]
  readonly prices: readonly PriceRow[]
  readonly items: readonly DecidedItem[]
}

type DecidedItem = Granted | Extended | Exclude<Release, ByHand>
type Granted = Limited & { readonly kind: 'granted'; readonly hold: Hold }
type Extended = Limited & Extract<Item, { readonly kind: 'extend' }>
/** The limits of its legs then, in their order. */
type Limited = { readonly limits: readonly Limit[] }
/** What people change goes to the database at once. */
type ByHand = Extract<Release, { readonly kind: 'adjust' | 'top-up' | 'reset' }>

export function isByHand(item: Item): item is ByHand {
  return item.kind === 'adjust' || item.kind === 'top-up' || item.kind === 'reset'
}

/** Undefined when nothing happened that must be kept. */
export function recordOf(
  { items, prices }: Batch,
  outcomes: readonly Outcome[],
  work: WorkingSet,
): JournalRecord | undefined {
  const released: DecidedItem[] = []
  const granted: DecidedItem[] = []
  for (const [index, item] of items.entries()) {
    const decided = decidedItem(item, outcomes[index], work)
    if (decided !== undefined) (isDemand(item) ? granted : released).push(decided)
  }
  const decided = [...released, ...granted]
  if (decided.length === 0 && work.opened.size === 0) return undefined
  return { now: work.now, opened: [...work.opened], prices, items: decided }
}

/** Undefined for what changed nothing. */
function decidedItem(
  item: Item,
  outcome: Outcome | undefined,
  work: WorkingSet,
): DecidedItem | undefined {
  if (item.kind === 'dry-run' || isByHand(item)) return undefined
  if (item.kind === 'settle') return item
  if (item.kind === 'reserve') {
    const isGranted = outcome?.kind === 'judged' && outcome.answer.reserved
    const hold = isGranted ? work.holds.get(item.holdId) : undefined
    return hold && { kind: 'granted', hold, limits: work.limitsOf(hold) }
  }
  if (outcome?.kind !== 'changed' || !outcome.done) return undefined
  if (item.kind !== 'extend') return item
  const hold = work.holds.get(item.holdId)
  return hold && { ...item, limits: work.limitsOf(hold) }
}

/** The accounts and the holds that must be at hand to carry these out. */
export function concernedBy(records: readonly JournalRecord[]): {
  readonly accountIds: ReadonlySet<string>
  readonly holdIds: ReadonlySet<HoldId>
} {
  const accountIds = new Set(records.flatMap(accountsIn))
  const known = new Set<HoldId>()
  const granted = new Set<HoldId>()
  for (const item of records.flatMap(({ items }) => items)) {
    if (item.kind === 'granted') granted.add(item.hold.id)
    else if (item.kind === 'settle') known.add(item.charge.id)
    else if ('holdId' in item) known.add(item.holdId)
  }
  return { accountIds, holdIds: known.difference(granted) }
}

function accountsIn({ opened, items }: JournalRecord): readonly string[] {
  return [...opened, ...accountsOf(items.map(movedBy))]
}

function movedBy(item: DecidedItem): Hold | Exclude<DecidedItem, Granted> {
  return item.kind === 'granted' ? item.hold : item
}

/** In the order in which they were decided, each as of then. */
export function replay(work: WorkingSet, records: readonly JournalRecord[]): void {
  for (const record of records) {
    work.advance(record.now, accountsIn(record))
    for (const item of record.items) {
      // Unless the database is an older copy, which knows nothing of this key.
      if (work.accounts(keyOf(movedBy(item))) !== undefined) carryOut(work, item)
    }
  }
}

function carryOut(work: WorkingSet, item: DecidedItem): void {
  if (item.kind === 'granted') {
    work.begin(item.hold)
    openHold(work, item.hold, item.limits)
  } else if (item.kind === 'extend') {
    const hold = work.holds.get(item.holdId)
    if (hold !== undefined) growHold(work, { hold, extra: item.extra }, item.limits)
  } else release(work, item)
}

// As text: lists, because names would be most of it.

const onHold: Columns<OnHold> = {
  holdId: integer('holdId'),
  keyId: text('keyId'),
  groupId: nullable(text('groupId')),
}

const LAYOUTS = {
  void: layout<OnHold & { reason: string }>({ ...onHold, reason: text('reason') }),
  trim: layout<OnHold & { amount: bigint }>({ ...onHold, amount: money('amount') }),
  extend: layout<OnHold & { extra: bigint }>({ ...onHold, extra: money('extra') }),
  orphan: layout(onHold),
  refused: layout<Refusable & { count: number }>({
    keyId: text('keyId'),
    groupId: nullable(text('groupId')),
    endpoint: text('endpoint'),
    modelAsked: text('modelAsked'),
    count: integer('count'),
  }),
}

const LIMIT = nullable(money('limit'))

type Line = readonly [
  kind: DecidedItem['kind'],
  fields: readonly Packed[],
  limits?: readonly Packed[],
]

export function packRecord({ now, opened, prices, items }: JournalRecord): string {
  return JSON.stringify([now, opened, prices.map(PRICE.pack), items.map(packItem)])
}

export function unpackRecord(packed: string): JournalRecord {
  const [now, opened, prices, items] = JSON.parse(packed) as [number, string[], Packed[][], Line[]]
  return { now, opened, prices: prices.map(PRICE.unpack), items: items.map(unpackItem) }
}

function packItem(item: DecidedItem): Line {
  if (item.kind === 'settle') return [item.kind, CHARGE.pack(item.charge)]
  if (item.kind === 'granted') return [item.kind, HOLD.pack(item.hold), packLimits(item)]
  const { pack } = LAYOUTS[item.kind] as Layout<unknown>
  return item.kind === 'extend'
    ? [item.kind, pack(item), packLimits(item)]
    : [item.kind, pack(item)]
}

function packLimits({ limits }: Limited): readonly Packed[] {
  return limits.map((limit) => (limit === null ? null : packAmount(limit)))
}

function unpackItem([kind, fields, packed]: Line): DecidedItem {
  const limits = packed?.map((limit) => LIMIT.read(limit, 0)) ?? []
  if (kind === 'settle') return { kind, charge: CHARGE.unpack(fields) }
  if (kind === 'granted') return { kind, hold: HOLD.unpack(fields), limits }
  const row = LAYOUTS[kind].unpack(fields)
  return (kind === 'extend' ? { kind, ...row, limits } : { kind, ...row }) as DecidedItem
}
