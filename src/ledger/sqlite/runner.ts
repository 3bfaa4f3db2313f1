// The serving thread's end of a batch on SQLite: sends it to the database's thread, tells outages from other errors, and
// packs what crosses. The kinds that every request brings cross as one JSON text of lists: cloning the same lists took two
// to three times as long, and was the most expensive part of a batch.
import type { WorstCase } from '../../catalog/worst-case.ts'
import { moduleBeside } from '../../core/runtime.ts'
import {
  flag,
  integer,
  layout,
  money,
  nullable,
  packAmount,
  text,
  type Packed,
} from '../../store/database/layout.ts'
import { isOutage } from '../../store/database/outage.ts'
import type { SqliteStore } from '../../store/database/store.ts'
import type { Balance, Balances, Grant, HoldId, RateBalances } from '../ledger.ts'
import type { Batch, BatchResult, Item, Outcome, CheckedAsk } from '../rules/batch.ts'
import { CHARGE } from '../rules/rows.ts'
import { type BatchRunner, Unavailable } from '../writer/writer.ts'

/** To be loaded by the SQLite thread: `openStore(url, { threadModules: [LEDGER_THREAD_MODULE] })`. */
export const LEDGER_THREAD_MODULE = moduleBeside(import.meta.url, 'batch-thread')

export function sqliteRunner(store: SqliteStore): BatchRunner {
  return {
    run: async (batch: Batch): Promise<BatchResult> => {
      try {
        const packed = await store.inThread('ledger.batch', packBatch(batch))
        return unpackResult(packed as PackedResult)
      } catch (error) {
        // This includes errors of the handler itself: retrying those would hold up all other batches forever.
        if (!isOutage(error)) throw error
        throw new Unavailable(`SQLite could not commit: ${error.message}`, { cause: error })
      }
    },
    close: async () => {},
  }
}

export type PackedBatch = Omit<Batch, 'items'> & PackedAll<Item>

export type PackedResult =
  | (PackedAll<Outcome> & { readonly balances: string })
  | { readonly live: false }

/** The frequent kinds as JSON, where null stands for the next of `others`, which cross as they are. */
type PackedAll<Thing> = { readonly frequent: string; readonly others: readonly Thing[] }

export function packBatch({ items, ...batch }: Batch): PackedBatch {
  return { ...batch, ...pack(items, packItem) }
}

export function unpackBatch({ nodeId, prices, isRetry, ...packedItems }: PackedBatch): Batch {
  return { nodeId, prices, isRetry, items: unpack(packedItems, unpackItem) }
}

export function packResult(result: BatchResult): PackedResult {
  if (!result.live) return result
  const balances = packBalances(result.balances)
  return { balances, ...pack(result.outcomes, packOutcome) }
}

export function unpackResult(result: PackedResult): BatchResult {
  if ('live' in result) return result
  const outcomes = unpack(result, unpackOutcome)
  return { live: true, outcomes, balances: unpackBalances(result.balances) }
}

function pack<Thing>(
  things: readonly Thing[],
  listOf: (thing: Thing) => readonly unknown[] | null,
): PackedAll<Thing> {
  const lists = things.map(listOf)
  return {
    frequent: JSON.stringify(lists),
    others: things.filter((_, index) => lists[index] === null),
  }
}

function unpack<Thing, List>(
  { frequent, others }: PackedAll<Thing>,
  thingOf: (list: List) => Thing,
): readonly Thing[] {
  const lists = JSON.parse(frequent) as readonly (List | null)[]
  let taken = 0
  return lists.map((list) => (list === null ? (others[taken++] as Thing) : thingOf(list)))
}

const ASK = layout<Omit<CheckedAsk, 'candidates'>>({
  requestId: text('requestId'),
  keyId: text('keyId'),
  groupId: nullable(text('groupId')),
  groupVersion: integer('groupVersion'),
  allowVersion: integer('allowVersion'),
  endpoint: text('endpoint'),
  modelAsked: text('modelAsked'),
  whenTight: text('whenTight'),
  estimatedTokens: integer('estimatedTokens'),
  recounted: flag('recounted'),
  isLastTry: flag('isLastTry'),
})

const CANDIDATE = layout<WorstCase>({
  fixedPicodollars: money('fixedPicodollars'),
  outputTokenPicodollars: money('outputTokenPicodollars'),
  outputTokens: integer('outputTokens'),
  outputTokensFrom: text('outputTokensFrom'),
  outputTokensMinimum: integer('outputTokensMinimum'),
})

type ReserveList = readonly [holdId: HoldId, ask: Packed[], candidates: readonly Packed[][]]
type ChargeList = readonly Packed[]

function packItem(item: Item): ReserveList | ChargeList | null {
  if (item.kind === 'settle') return CHARGE.pack(item.charge)
  if (item.kind !== 'reserve') return null
  const { holdId, ask } = item
  return [holdId, ASK.pack(ask), ask.candidates.map(CANDIDATE.pack)]
}

function unpackItem(list: ReserveList | ChargeList): Item {
  if (!isReserve(list)) return { kind: 'settle', charge: CHARGE.unpack(list) }
  const [holdId, ask, candidates] = list
  return {
    kind: 'reserve',
    holdId,
    ask: { ...ASK.unpack(ask), candidates: candidates.map(CANDIDATE.unpack) },
  }
}

function isReserve(list: ReserveList | ChargeList): list is ReserveList {
  return list.length === 3
}

type GrantedList = readonly [
  holdId: HoldId,
  amountNanodollars: number | string,
  outputTokens: number,
  capped: boolean,
  grants: readonly Grant[] | null,
]
type SettledList = readonly [
  found: Settled['found'],
  cost: number | string,
  overrun: number | string,
]
type Settled = Extract<Outcome, { readonly kind: 'settled' }>

function packOutcome(outcome: Outcome): GrantedList | SettledList | null {
  if (outcome.kind === 'settled') {
    return [outcome.found, packAmount(outcome.cost), packAmount(outcome.overrun)]
  }
  if (outcome.kind !== 'judged' || !outcome.answer.reserved) return null
  const { holdId, amountNanodollars, outputTokens, capped, grants = null } = outcome.answer
  return [holdId, packAmount(amountNanodollars), outputTokens, capped, grants]
}

function unpackOutcome(list: GrantedList | SettledList): Outcome {
  if (list.length === 3) {
    const [found, cost, overrun] = list
    return { kind: 'settled', found, cost: BigInt(cost), overrun: BigInt(overrun) }
  }
  const [holdId, amount, outputTokens, capped, grants] = list
  const amountNanodollars = BigInt(amount)
  const answer = { reserved: true, holdId, amountNanodollars, outputTokens, capped } as const
  return { kind: 'judged', answer: grants === null ? answer : { ...answer, grants } }
}

const BALANCE = layout<Balance>({
  period: text('period'),
  limitNanodollars: nullable(money('limitNanodollars')),
  spentNanodollars: money('spentNanodollars'),
  heldNanodollars: money('heldNanodollars'),
  remainingNanodollars: nullable(money('remainingNanodollars')),
  startsAt: integer('startsAt'),
  resetsAt: nullable(integer('resetsAt')),
})

type PackedBalance = Packed[] | null

/** The balances of the frame are the same for all keys of a batch, and so are those of a group: they cross once. */
type PackedBalances = {
  readonly frame: readonly [main: Packed[], window: PackedBalance]
  readonly groups: GroupList[]
  readonly keys: readonly KeyList[]
} | null

type KeyList = readonly [
  keyId: string,
  balance: Packed[],
  requests: RateBalances['requests'],
  tokens: RateBalances['tokens'],
  concurrency: RateBalances['concurrency'],
  more: MoreList | null,
]

/** What only some keys have. */
type MoreList = readonly [
  window: PackedBalance,
  models: readonly (readonly [model: string, balance: Packed[]])[],
  groupId: string | null,
]

type GroupList = readonly [
  groupId: string,
  balance: PackedBalance,
  window: PackedBalance,
  rates: RateBalances | null,
]

function packBalances(balances: ReadonlyMap<string, Balances>): string {
  let all: PackedBalances = null
  const keys: KeyList[] = []
  const groups = new Map<string, GroupList>()
  for (const [keyId, each] of balances) {
    const { key, frame, frameWindow, requests, tokens, concurrency, groupId } = each
    all ??= { frame: [BALANCE.pack(frame), packed(frameWindow)], groups: [], keys }
    keys.push([keyId, BALANCE.pack(key), requests, tokens, concurrency, moreOf(each)])
    if (groupId === null || groups.has(groupId)) continue
    groups.set(groupId, [groupId, packed(each.group), packed(each.groupWindow), each.groupRates])
  }
  all?.groups.push(...groups.values())
  return JSON.stringify(all)
}

function moreOf({ keyWindow, models, groupId }: Balances): MoreList | null {
  if (keyWindow === null && models.length === 0 && groupId === null) return null
  return [packed(keyWindow), models.map((cap) => [cap.model, BALANCE.pack(cap)] as const), groupId]
}

function packed(balance: Balance | null): PackedBalance {
  return balance === null ? null : BALANCE.pack(balance)
}

function unpacked(list: PackedBalance): Balance | null {
  return list === null ? null : BALANCE.unpack(list)
}

type OfGroup = Pick<Balances, 'groupId' | 'group' | 'groupWindow' | 'groupRates'>
type OfKey = Pick<Balances, 'keyWindow' | 'models'>

const NO_GROUP: OfGroup = { groupId: null, group: null, groupWindow: null, groupRates: null }
const NO_MORE: OfKey = { keyWindow: null, models: [] }

function unpackBalances(json: string): ReadonlyMap<string, Balances> {
  const all = JSON.parse(json) as PackedBalances
  const balances = new Map<string, Balances>()
  if (all === null) return balances
  const frame = BALANCE.unpack(all.frame[0])
  const frameWindow = unpacked(all.frame[1])
  const groups = new Map(all.groups.map((list) => [list[0], unpackGroup(list)]))
  for (const [keyId, key, requests, tokens, concurrency, more] of all.keys) {
    const { keyWindow, models } = more === null ? NO_MORE : unpackMore(more)
    const ofGroup = groups.get(more?.[2] ?? '') ?? NO_GROUP
    balances.set(keyId, {
      key: BALANCE.unpack(key),
      keyWindow,
      models,
      groupId: ofGroup.groupId,
      group: ofGroup.group,
      groupWindow: ofGroup.groupWindow,
      groupRates: ofGroup.groupRates,
      frame,
      frameWindow,
      requests,
      tokens,
      concurrency,
    })
  }
  return balances
}

function unpackMore([keyWindow, models]: MoreList): OfKey {
  return {
    keyWindow: unpacked(keyWindow),
    models: models.map(([model, cap]) => ({ model, ...BALANCE.unpack(cap) })),
  }
}

function unpackGroup([groupId, group, window, groupRates]: GroupList): OfGroup {
  return { groupId, group: unpacked(group), groupWindow: unpacked(window), groupRates }
}
