// How a batch and its result cross to the database's thread and back. What there is one of per request crosses as a
// flat list: cloning objects with their property names took three times as long and was the dearest part of a batch.
import type { Batch, BatchResult, Charge, Item, Outcome, PlainAsk } from './books.ts'
import type { Balances, HoldId, WorstCase } from './ledger.ts'

export type PackedBatch = Omit<Batch, 'items'> & { readonly items: readonly Packed<Item>[] }

export type PackedResult =
  | {
      readonly now: number
      readonly outcomes: readonly Packed<Outcome>[]
      readonly balances: readonly BalanceList[]
    }
  | { readonly live: false }

/** A list starts with a hold's id and stands for the frequent kind; everything else crosses as it is. */
type Packed<Thing> = readonly unknown[] | Thing

export function packBatch(batch: Batch): PackedBatch {
  return { ...batch, items: batch.items.map(packItem) }
}

export function unpackBatch(packed: PackedBatch): Batch {
  return { ...packed, items: packed.items.map(unpackItem) }
}

export function packResult(result: BatchResult): PackedResult {
  if (!result.live) return result
  const balances: BalanceList[] = []
  for (const [keyId, { key, frame, requests, tokens, concurrency }] of result.balances) {
    balances.push([
      keyId,
      { frame, requests, tokens, concurrency },
      key.limitNanodollars,
      key.spentNanodollars,
      key.heldNanodollars,
      key.remainingNanodollars,
      key.resetsAt,
    ])
  }
  return { now: result.now, outcomes: result.outcomes.map(packOutcome), balances }
}

export function unpackResult(packed: PackedResult): BatchResult {
  if ('live' in packed) return packed
  const balances = new Map<string, Balances>()
  for (const [keyId, rest, limit, spent, held, remaining, resetsAt] of packed.balances) {
    const key = {
      limitNanodollars: limit,
      spentNanodollars: spent,
      heldNanodollars: held,
      remainingNanodollars: remaining,
      resetsAt,
    }
    balances.set(keyId, {
      key,
      frame: rest.frame,
      requests: rest.requests,
      tokens: rest.tokens,
      concurrency: rest.concurrency,
    })
  }
  return { live: true, now: packed.now, outcomes: packed.outcomes.map(unpackOutcome), balances }
}

const RESERVE_LENGTH = 14

function packItem(item: Item): Packed<Item> {
  if (item.kind === 'reserve') {
    const { holdId, ask } = item
    const { worstCase } = ask
    return [
      holdId,
      ask.requestId,
      ask.keyId,
      ask.allowVersion,
      ask.endpoint,
      ask.modelAsked,
      ask.whenTight,
      ask.estimatedTokens,
      ask.recounted,
      worstCase.fixedPicodollars,
      worstCase.outputTokenPicodollars,
      worstCase.outputTokens,
      worstCase.outputTokensFrom,
      worstCase.outputTokensMinimum,
    ]
  }
  if (item.kind === 'settle') {
    const { charge } = item
    const { tokens } = charge
    return [
      charge.holdId,
      charge.requestId,
      charge.keyId,
      charge.endpoint,
      charge.modelAsked,
      charge.modelServed,
      charge.provider,
      charge.status,
      charge.errorCode,
      charge.costNanodollars,
      charge.priceVersion,
      charge.estimated,
      charge.latencyMs,
      charge.firstTokenMs,
      charge.endUser,
      charge.tags,
      charge.attempts,
      tokens.inputTokens,
      tokens.cachedTokens,
      tokens.cacheWriteTokens,
      tokens.cacheWriteLongTokens,
      tokens.outputTokens,
      tokens.reasoningTokens,
    ]
  }
  return item
}

function unpackItem(packed: Packed<Item>): Item {
  if (!isList(packed)) return packed
  return packed.length === RESERVE_LENGTH
    ? unpackReserve(packed as ReserveList)
    : { kind: 'settle', charge: unpackCharge(packed as ChargeList) }
}

type ReserveList = [
  holdId: HoldId,
  requestId: string,
  keyId: string,
  allowVersion: number,
  endpoint: PlainAsk['endpoint'],
  modelAsked: string,
  whenTight: PlainAsk['whenTight'],
  estimatedTokens: number,
  recounted: boolean,
  fixedPicodollars: bigint,
  outputTokenPicodollars: bigint,
  outputTokens: number,
  outputTokensFrom: WorstCase['outputTokensFrom'],
  outputTokensMinimum: number,
]

/** By place, not by name: objects that are built name by name stay slow for whoever reads them. */
function unpackReserve(list: ReserveList): Item {
  return {
    kind: 'reserve',
    holdId: list[0],
    ask: {
      requestId: list[1],
      keyId: list[2],
      allowVersion: list[3],
      endpoint: list[4],
      modelAsked: list[5],
      whenTight: list[6],
      estimatedTokens: list[7],
      recounted: list[8],
      worstCase: {
        fixedPicodollars: list[9],
        outputTokenPicodollars: list[10],
        outputTokens: list[11],
        outputTokensFrom: list[12],
        outputTokensMinimum: list[13],
      },
    },
  }
}

type ChargeList = [
  holdId: HoldId,
  requestId: string,
  keyId: string,
  endpoint: Charge['endpoint'],
  modelAsked: string,
  modelServed: string | null,
  provider: string | null,
  status: number,
  errorCode: string | null,
  costNanodollars: bigint,
  priceVersion: string | null,
  estimated: boolean,
  latencyMs: number,
  firstTokenMs: number | null,
  endUser: string | null,
  tags: string,
  attempts: string,
  inputTokens: number,
  cachedTokens: number,
  cacheWriteTokens: number,
  cacheWriteLongTokens: number,
  outputTokens: number,
  reasoningTokens: number,
]

function unpackCharge(list: ChargeList): Charge {
  return {
    holdId: list[0],
    requestId: list[1],
    keyId: list[2],
    endpoint: list[3],
    modelAsked: list[4],
    modelServed: list[5],
    provider: list[6],
    status: list[7],
    errorCode: list[8],
    costNanodollars: list[9],
    priceVersion: list[10],
    estimated: list[11],
    latencyMs: list[12],
    firstTokenMs: list[13],
    endUser: list[14],
    tags: list[15],
    attempts: list[16],
    tokens: {
      inputTokens: list[17],
      cachedTokens: list[18],
      cacheWriteTokens: list[19],
      cacheWriteLongTokens: list[20],
      outputTokens: list[21],
      reasoningTokens: list[22],
    },
  }
}

type GrantedList = [
  holdId: HoldId,
  amountNanodollars: bigint,
  outputTokens: number,
  capped: boolean,
]
type SettledList = [found: Settled['found'], cost: bigint, overrun: bigint]
type Settled = Extract<Outcome, { readonly kind: 'settled' }>

function packOutcome(outcome: Outcome): Packed<Outcome> {
  if (outcome.kind === 'settled') return [outcome.found, outcome.cost, outcome.overrun]
  if (outcome.kind !== 'judged' || !outcome.answer.reserved) return outcome
  const { holdId, amountNanodollars, outputTokens, capped } = outcome.answer
  return [holdId, amountNanodollars, outputTokens, capped]
}

function unpackOutcome(packed: Packed<Outcome>): Outcome {
  if (!isList(packed)) return packed
  if (packed.length === 3) {
    const [found, cost, overrun] = packed as SettledList
    return { kind: 'settled', found, cost, overrun }
  }
  const [holdId, amountNanodollars, outputTokens, capped] = packed as GrantedList
  const answer = { reserved: true, holdId, amountNanodollars, outputTokens, capped } as const
  return { kind: 'judged', answer }
}

type BalanceList = [
  keyId: string,
  rest: Omit<Balances, 'key'>,
  limitNanodollars: bigint | null,
  spentNanodollars: bigint,
  heldNanodollars: bigint,
  remainingNanodollars: bigint | null,
  resetsAt: number | null,
]

function isList(packed: unknown): packed is readonly unknown[] {
  return Array.isArray(packed)
}
