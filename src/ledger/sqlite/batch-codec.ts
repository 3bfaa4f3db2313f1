// Packs a batch for its way to the database's thread, and the result for its way back. The kinds that every request
// brings cross as one JSON text of flat lists: cloning the same lists took two to three times as long, and was the
// most expensive part of a batch.
import { NO_COST, type WorstCase } from '../../catalog/worst-case.ts'
import type { Balance, Balances, HoldId, RateBalance, Grant } from '../ledger.ts'
import type { Batch, BatchResult, Item, Outcome, PlainAsk } from '../rules/batch.ts'
import type { Charge } from '../rules/rows.ts'

export type PackedBatch = Omit<Batch, 'items'> & Packed<Item>

export type PackedResult =
  | (Packed<Outcome> & { readonly balances: string })
  | { readonly live: false }

/** The frequent kinds as JSON, where null stands for the next of `others`, which cross as they are. */
type Packed<Thing> = { readonly frequent: string; readonly others: readonly Thing[] }

export function packBatch(batch: Batch): PackedBatch {
  const { nodeId, prices, isRetry } = batch
  return { nodeId, prices, isRetry, ...pack(batch.items, packItem) }
}

export function unpackBatch(packed: PackedBatch): Batch {
  const { nodeId, prices, isRetry } = packed
  return { nodeId, prices, isRetry, items: unpack(packed, unpackItem) }
}

export function packResult(result: BatchResult): PackedResult {
  if (!result.live) return result
  const balances = packBalances(result.balances)
  return { balances, ...pack(result.outcomes, packOutcome) }
}

export function unpackResult(packed: PackedResult): BatchResult {
  if ('live' in packed) return packed
  const outcomes = unpack(packed, unpackOutcome)
  return { live: true, outcomes, balances: unpackBalances(packed.balances) }
}

function pack<Thing>(
  things: readonly Thing[],
  listOf: (thing: Thing) => readonly unknown[] | null,
): Packed<Thing> {
  const lists = things.map(listOf)
  return {
    frequent: JSON.stringify(lists),
    others: things.filter((_, index) => lists[index] === null),
  }
}

function unpack<Thing, List>(
  { frequent, others }: Packed<Thing>,
  thingOf: (list: List) => Thing,
): readonly Thing[] {
  const lists = JSON.parse(frequent) as readonly (List | null)[]
  let taken = 0
  return lists.map((list) => (list === null ? (others[taken++] as Thing) : thingOf(list)))
}

/** JSON has no big integers: an amount that a number cannot hold exactly crosses as a string of digits. */
type Amount = number | string

function packAmount(amount: bigint): Amount {
  const number = Number(amount)
  return Number.isSafeInteger(number) ? number : String(amount)
}

const RESERVE_LENGTH = 16

function packItem(item: Item): ReserveList | ChargeList | null {
  if (item.kind === 'reserve') return packReserve(item)
  return item.kind === 'settle' ? packCharge(item.charge) : null
}

function unpackItem(list: ReserveList | ChargeList): Item {
  return list.length === RESERVE_LENGTH
    ? unpackReserve(list)
    : { kind: 'settle', charge: unpackCharge(list) }
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
  isLastTry: boolean,
  ...first: CandidateList,
  others: readonly CandidateList[] | null,
]

type CandidateList = [
  fixedPicodollars: Amount,
  outputTokenPicodollars: Amount,
  outputTokens: number,
  outputTokensFrom: WorstCase['outputTokensFrom'],
  outputTokensMinimum: number,
]

function packReserve({ holdId, ask }: Extract<Item, { readonly kind: 'reserve' }>): ReserveList {
  // The first one lies flat among the rest: nearly every request has no other.
  const [first = NO_COST, ...others] = ask.candidates
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
    ask.isLastTry ?? false,
    packAmount(first.fixedPicodollars),
    packAmount(first.outputTokenPicodollars),
    first.outputTokens,
    first.outputTokensFrom,
    first.outputTokensMinimum,
    others.length === 0 ? null : others.map(packCandidate),
  ]
}

function packCandidate(worst: WorstCase): CandidateList {
  return [
    packAmount(worst.fixedPicodollars),
    packAmount(worst.outputTokenPicodollars),
    worst.outputTokens,
    worst.outputTokensFrom,
    worst.outputTokensMinimum,
  ]
}

/** One literal, not a loop over names: objects built property by property stay slow to read. */
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
      isLastTry: list[9],
      candidates: unpackCandidates(list),
    },
  }
}

function unpackCandidates(list: ReserveList): readonly WorstCase[] {
  const first = {
    fixedPicodollars: BigInt(list[10]),
    outputTokenPicodollars: BigInt(list[11]),
    outputTokens: list[12],
    outputTokensFrom: list[13],
    outputTokensMinimum: list[14],
  }
  const others = list[15]
  return others === null ? [first] : [first, ...others.map(unpackCandidate)]
}

function unpackCandidate(list: CandidateList): WorstCase {
  return {
    fixedPicodollars: BigInt(list[0]),
    outputTokenPicodollars: BigInt(list[1]),
    outputTokens: list[2],
    outputTokensFrom: list[3],
    outputTokensMinimum: list[4],
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
  costNanodollars: Amount,
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

function packCharge(charge: Charge): ChargeList {
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
    packAmount(charge.costNanodollars),
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
    costNanodollars: BigInt(list[9]),
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
  amountNanodollars: Amount,
  outputTokens: number,
  capped: boolean,
  grants: readonly Grant[] | null,
]
type SettledList = [found: Settled['found'], cost: Amount, overrun: Amount]
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

/** The frame's balance is the same for all keys of a batch, so it crosses once. */
type PackedBalances = { readonly frame: BalanceList; readonly keys: readonly KeyList[] } | null

type KeyList = [
  keyId: string,
  balance: BalanceList,
  requests: RateList | null,
  tokens: RateList | null,
  concurrency: number | null,
  inFlight: number,
]
type BalanceList = [
  limit: Amount | null,
  spent: Amount,
  held: Amount,
  remaining: Amount | null,
  resetsAt: number | null,
]
type RateList = [limit: number, remaining: number, resetsAt: number]

function packBalances(balances: ReadonlyMap<string, Balances>): string {
  let packed: PackedBalances = null
  const keys: KeyList[] = []
  for (const [keyId, { key, frame, requests, tokens, concurrency }] of balances) {
    packed ??= { frame: packBalance(frame), keys }
    const { limit, inFlight } = concurrency
    keys.push([keyId, packBalance(key), packRate(requests), packRate(tokens), limit, inFlight])
  }
  return JSON.stringify(packed)
}

function unpackBalances(text: string): ReadonlyMap<string, Balances> {
  const packed = JSON.parse(text) as PackedBalances
  const balances = new Map<string, Balances>()
  if (packed === null) return balances
  const frame = unpackBalance(packed.frame)
  for (const [keyId, balance, requests, tokens, limit, inFlight] of packed.keys) {
    balances.set(keyId, {
      key: unpackBalance(balance),
      frame,
      requests: unpackRate(requests),
      tokens: unpackRate(tokens),
      concurrency: { limit, inFlight },
    })
  }
  return balances
}

function packBalance(balance: Balance): BalanceList {
  const { limitNanodollars: limit, remainingNanodollars: remaining } = balance
  return [
    limit === null ? null : packAmount(limit),
    packAmount(balance.spentNanodollars),
    packAmount(balance.heldNanodollars),
    remaining === null ? null : packAmount(remaining),
    balance.resetsAt,
  ]
}

function unpackBalance([limit, spent, held, remaining, resetsAt]: BalanceList): Balance {
  return {
    limitNanodollars: limit === null ? null : BigInt(limit),
    spentNanodollars: BigInt(spent),
    heldNanodollars: BigInt(held),
    remainingNanodollars: remaining === null ? null : BigInt(remaining),
    resetsAt,
  }
}

function packRate(rate: RateBalance | null): RateList | null {
  return rate === null ? null : [rate.limit, rate.remaining, rate.resetsAt]
}

function unpackRate(list: RateList | null): RateBalance | null {
  return list === null ? null : { limit: list[0], remaining: list[1], resetsAt: list[2] }
}
