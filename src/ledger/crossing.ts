// How a batch and its result cross to the database's thread and back. What there is one of per request crosses as a
// flat list: cloning objects with their property names took three times as long and was the dearest part of a batch.
import type { Usage } from '../core/events.ts'
import type { Batch, BatchResult, Charge, Granted, Item, Outcome, PlainAsk } from './books.ts'
import type { Balance, Balances, WorstCase } from './ledger.ts'

export type PackedBatch = Omit<Batch, 'items'> & { readonly items: readonly Packed<Item>[] }

export type PackedResult =
  | {
      readonly now: number
      readonly outcomes: readonly Packed<Outcome>[]
      readonly balances: readonly (readonly unknown[])[]
    }
  | { readonly live: false }

/** A list starts with a hold's id and stands for the frequent kind; everything else crosses as it is. */
type Packed<Thing> = readonly unknown[] | Thing

const ASK = [
  'requestId',
  'keyId',
  'allowVersion',
  'endpoint',
  'modelAsked',
  'whenTight',
  'estimatedTokens',
  'recounted',
] as const satisfies readonly (keyof PlainAsk)[]
const WORST_CASE = [
  'fixedPicodollars',
  'outputTokenPicodollars',
  'outputTokens',
  'outputTokensFrom',
  'outputTokensMinimum',
] as const satisfies readonly (keyof WorstCase)[]
const CHARGE = [
  'requestId',
  'keyId',
  'endpoint',
  'modelAsked',
  'modelServed',
  'provider',
  'status',
  'errorCode',
  'costNanodollars',
  'priceVersion',
  'estimated',
  'latencyMs',
  'firstTokenMs',
  'endUser',
  'tags',
  'attempts',
] as const satisfies readonly (keyof Charge)[]
const USAGE = [
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'outputTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof Usage)[]
const GRANTED = [
  'amountNanodollars',
  'outputTokens',
  'capped',
] as const satisfies readonly (keyof Granted)[]
const SETTLED = ['found', 'cost', 'overrun'] as const
const BALANCE = [
  'limitNanodollars',
  'spentNanodollars',
  'heldNanodollars',
  'remainingNanodollars',
  'resetsAt',
] as const satisfies readonly (keyof Balance)[]

export function packBatch(batch: Batch): PackedBatch {
  return { ...batch, items: batch.items.map(packItem) }
}

export function unpackBatch(packed: PackedBatch): Batch {
  return { ...packed, items: packed.items.map(unpackItem) }
}

export function packResult(result: BatchResult): PackedResult {
  if (!result.live) return result
  const balances: unknown[][] = []
  for (const [keyId, { key, ...rest }] of result.balances) {
    const list: unknown[] = [keyId, rest]
    append(list, key, BALANCE)
    balances.push(list)
  }
  return { now: result.now, outcomes: result.outcomes.map(packOutcome), balances }
}

export function unpackResult(packed: PackedResult): BatchResult {
  if ('live' in packed) return packed
  const balances = new Map<string, Balances>()
  for (const list of packed.balances) {
    const [keyId, rest] = list as [string, Omit<Balances, 'key'>]
    balances.set(keyId, { key: read<Balance>(list, 2, BALANCE), ...rest })
  }
  return { live: true, now: packed.now, outcomes: packed.outcomes.map(unpackOutcome), balances }
}

function packItem(item: Item): Packed<Item> {
  if (item.kind === 'reserve') {
    const list: unknown[] = [item.holdId]
    append(list, item.ask, ASK)
    return append(list, item.ask.worstCase, WORST_CASE)
  }
  if (item.kind === 'settle') {
    const list: unknown[] = [item.charge.holdId]
    append(list, item.charge, CHARGE)
    return append(list, item.charge.tokens, USAGE)
  }
  return item
}

function unpackItem(packed: Packed<Item>): Item {
  if (!isList(packed)) return packed
  const holdId = packed[0] as number
  if (packed.length === 1 + ASK.length + WORST_CASE.length) {
    const worstCase = read<WorstCase>(packed, 1 + ASK.length, WORST_CASE)
    const ask = { ...read<Omit<PlainAsk, 'worstCase'>>(packed, 1, ASK), worstCase }
    return { kind: 'reserve', holdId, ask }
  }
  const tokens = read<Usage>(packed, 1 + CHARGE.length, USAGE)
  const charge = { ...read<Omit<Charge, 'holdId' | 'tokens'>>(packed, 1, CHARGE), holdId, tokens }
  return { kind: 'settle', charge }
}

function packOutcome(outcome: Outcome): Packed<Outcome> {
  if (outcome.kind === 'judged' && outcome.answer.reserved) {
    return append([outcome.answer.holdId], outcome.answer, GRANTED)
  }
  return outcome.kind === 'settled' ? append([], outcome, SETTLED) : outcome
}

function unpackOutcome(packed: Packed<Outcome>): Outcome {
  if (!isList(packed)) return packed
  if (packed.length === SETTLED.length) {
    const settled = read<Omit<Extract<Outcome, { kind: 'settled' }>, 'kind'>>(packed, 0, SETTLED)
    return { kind: 'settled', ...settled }
  }
  const granted = read<Omit<Granted, 'reserved' | 'holdId'>>(packed, 1, GRANTED)
  return { kind: 'judged', answer: { reserved: true, holdId: packed[0] as number, ...granted } }
}

function append<Thing>(
  list: unknown[],
  thing: Thing,
  fields: readonly (keyof Thing)[],
): readonly unknown[] {
  for (const field of fields) list.push(thing[field])
  return list
}

function read<Thing>(
  list: readonly unknown[],
  from: number,
  fields: readonly (keyof Thing)[],
): Thing {
  const thing: Partial<Record<keyof Thing, unknown>> = {}
  let index = from
  for (const field of fields) thing[field] = list[index++]
  return thing as Thing
}

function isList(packed: unknown): packed is readonly unknown[] {
  return Array.isArray(packed)
}
