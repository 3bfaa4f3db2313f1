// The one decision procedure: turns a batch of items and the snapshot of the books they concern into outcomes and writes.
// Both databases and the simulation run exactly this code. No I/O, no clock: the time is the snapshot's. At its end: as
// which usage row a hold ends.
import { CLIENT_GONE_STATUS } from '../../core/errors.ts'
import { NO_USAGE } from '../../core/events.ts'
import { isGroupId } from '../../core/ids.ts'
import type { Nanodollars } from '../../core/money.ts'
import { MAIN } from '../../store/accounts/budgets.ts'
import { FRAME_ID, TAKEN_OVER } from '../../store/database/tables.ts'
import type { Balances, HoldId } from '../ledger.ts'
import { balancesOf, hasRates, periodsNow } from './account.ts'
import type { Batch, Item, Outcome, Snapshot, CheckedAsk, Writes } from './batch.ts'
import { grantsWithin, judge, mayExtend, type Legs, type Verdict } from './judge.ts'
import { countAdmission, correct } from './rates.ts'
import type { Charge, Hold, LegPeriods, UsageRow } from './rows.ts'
import { WorkingSet, type Limit } from './working-set.ts'

type Decision = {
  /** One per item of the batch, in its order. */
  readonly outcomes: readonly Outcome[]
  /** As they stand after the batch, by key. */
  readonly balances: ReadonlyMap<string, Balances>
  readonly writes: Writes
}

type Demand = Extract<Item, { readonly kind: 'reserve' | 'dry-run' | 'extend' }>
export type Release = Exclude<Item, Demand>

/**
 * Items that free budget are decided first, so that a settlement makes room for the asks in its batch. Asks are then
 * decided in order of arrival, each against what the ones before it left.
 */
export function decide({ items }: Batch, snapshot: Snapshot): Decision {
  const work = new WorkingSet(snapshot)
  return { ...decideIn(work, items), writes: work.writes() }
}

/** The same in a working set, whose writes are the caller's matter. */
export function decideIn(work: WorkingSet, items: readonly Item[]): Omit<Decision, 'writes'> {
  work.advance(work.now)
  const outcomes: Outcome[] = Array.from({ length: items.length })
  for (const [index, item] of items.entries()) {
    if (!isDemand(item)) outcomes[index] = release(work, item)
  }
  for (const [index, item] of items.entries()) {
    if (isDemand(item)) outcomes[index] = demand(work, item)
  }
  return { outcomes, balances: balancesAfter(work, items) }
}

/** What moves accounts: an item, or a hold by itself. */
type Moving = Item | Hold

/** The key whose account an item moves; where people change a balance, also a group or the frame. */
export function keyOf(item: Moving): string {
  if ('charge' in item) return item.charge.keyId
  return 'ask' in item ? item.ask.keyId : item.keyId
}

/** The group whose account an item moves as well. */
function groupOf(item: Moving): string | null {
  if ('charge' in item) return item.charge.groupId
  if ('ask' in item) return item.ask.groupId
  return 'groupId' in item ? item.groupId : null
}

/**
 * The accounts of a batch in the one order in which all nodes lock them, so that no two can wait for each other: keys,
 * then groups, each by id, and last the frame, because every batch needs it.
 */
export function accountsOf(items: readonly Moving[]): readonly string[] {
  const [only] = items
  // A batch often has no more, and then needs no lists of names to be sorted.
  if (only !== undefined && items.length === 1) {
    const [key, group] = [keyOf(only), groupOf(only)]
    if (key !== FRAME_ID && !isGroupId(key))
      return group === null ? [key, FRAME_ID] : [key, group, FRAME_ID]
  }
  const keys = new Set<string>()
  const groups = new Set<string>()
  for (const item of items) {
    const id = keyOf(item)
    if (isGroupId(id)) groups.add(id)
    else keys.add(id)
    const group = groupOf(item)
    if (group !== null) groups.add(group)
  }
  keys.delete(FRAME_ID)
  return [...[...keys].toSorted(), ...[...groups].toSorted(), FRAME_ID]
}

/** The hold an item names, if the books may contain it: a new one only when an earlier try may have committed it. */
export function knownHoldOf(item: Item, isRetry: boolean): HoldId | undefined {
  if (item.kind === 'settle') return item.charge.id
  if (item.kind === 'reserve' && !isRetry) return undefined
  return 'holdId' in item ? item.holdId : undefined
}

/** Whether an item asks for budget; all others are decided before it. */
export function isDemand(item: Item): item is Demand {
  return item.kind === 'reserve' || item.kind === 'dry-run' || item.kind === 'extend'
}

export function release(work: WorkingSet, item: Release): Outcome {
  if (item.kind === 'settle') return settle(work, item.charge)
  return { kind: 'changed', done: change(work, item) }
}

/** False when there is nothing to change. */
function change(work: WorkingSet, item: Exclude<Release, { readonly kind: 'settle' }>): boolean {
  switch (item.kind) {
    case 'void':
      return voidHold(work, item.holdId, item.reason)
    case 'orphan':
      return orphan(work, item.holdId)
    case 'trim':
      return trim(work, item.holdId, item.amount)
    case 'adjust':
      return adjust(work, item)
    case 'top-up':
      return work.topUp(item, item.amount)
    case 'reset':
      return work.reset(item)
    case 'refused':
      work.countRefused(item, item.count)
      return true
  }
}

function demand(work: WorkingSet, item: Demand): Outcome {
  switch (item.kind) {
    case 'reserve':
      return { kind: 'judged', answer: knownGrant(work, item) ?? reserve(work, item) }
    case 'dry-run':
      return { kind: 'judged', answer: named(consider(work, item.ask).verdict, 0) }
    case 'extend':
      return { kind: 'changed', done: extend(work, item.holdId, item.extra) }
  }
}

type Judgement = Extract<Outcome, { readonly kind: 'judged' }>['answer']

/** The answer to an ask whose hold is already in the books: an earlier try committed, but its result was lost. */
function knownGrant(
  work: WorkingSet,
  { holdId, ask }: Extract<Item, { kind: 'reserve' }>,
): Judgement | undefined {
  const hold = work.holds.get(holdId)
  if (hold === undefined) {
    // Another node has since taken this one for dead and charged the hold: nothing may be dispatched on it.
    return work.usage.has(holdId) ? { reserved: false, reason: 'unavailable' } : undefined
  }
  const { heldNanodollars, outputTokens, capped } = hold
  return {
    reserved: true,
    holdId,
    amountNanodollars: heldNanodollars,
    outputTokens,
    capped,
    ...(ask.candidates.length > 1 && { grants: grantsWithin(ask, hold) }),
  }
}

const UNKNOWN_KEY: Verdict = { reserved: false, reason: 'key_status', status: 'unknown' }

/** The verdict, and the legs that it is about. */
function consider(work: WorkingSet, ask: CheckedAsk): { verdict: Verdict; legs?: Legs } {
  const accounts = work.accounts(ask.keyId)
  const legs = accounts && work.legs(periodsNow(accounts, ask.modelAsked))
  if (legs === undefined) return { verdict: UNKNOWN_KEY }
  return { verdict: judge(ask, legs, work.now), legs }
}

function named(verdict: Verdict, holdId: HoldId): Judgement {
  return verdict.reserved ? { ...verdict, holdId } : verdict
}

function reserve(work: WorkingSet, item: Extract<Item, { kind: 'reserve' }>): Judgement {
  const { ask, holdId } = item
  const { verdict, legs } = consider(work, ask)
  if (!verdict.reserved || legs === undefined) return named(verdict, holdId)
  const { periods } = legs
  const hold: Hold = {
    id: holdId,
    requestId: ask.requestId,
    keyId: periods.keyId,
    groupId: periods.groupId,
    modelAsked: periods.modelAsked,
    keyPeriod: periods.keyPeriod,
    keyWindow: periods.keyWindow,
    modelCap: periods.modelCap,
    groupPeriod: periods.groupPeriod,
    groupWindow: periods.groupWindow,
    framePeriod: periods.framePeriod,
    frameWindow: periods.frameWindow,
    heldNanodollars: verdict.amountNanodollars,
    outputTokens: verdict.outputTokens,
    capped: verdict.capped,
    estimatedTokens: ask.estimatedTokens,
    at: work.now,
    endpoint: ask.endpoint,
  }
  openHold(work, hold)
  return named(verdict, holdId)
}

/** `limits` = those that it was granted under, if they may have changed since. */
export function openHold(work: WorkingSet, hold: Hold, limits?: readonly Limit[]): void {
  work.move(hold, { held: hold.heldNanodollars, spent: 0n, overrun: 0n, inFlight: 1 })
  work.grant(hold, hold.heldNanodollars, limits)
  work.insertHold(hold)
  for (const account of work.movedBy(hold)) {
    if (hasRates(account)) countAdmission(account.rateWindow, work.now, hold.estimatedTokens)
  }
}

/** For a second attempt, which may cost again. A hold with a leg whose period is over cannot grow: that is closed. */
function extend(work: WorkingSet, holdId: HoldId, extra: Nanodollars): boolean {
  const hold = work.holds.get(holdId)
  const legs = hold && work.legs(hold)
  if (hold === undefined || legs === undefined || !mayExtend(hold, legs, extra)) return false
  growHold(work, { hold, extra })
  return true
}

/** `limits` as above. */
export function growHold(
  work: WorkingSet,
  { hold, extra }: { readonly hold: Hold; readonly extra: Nanodollars },
  limits?: readonly Limit[],
): void {
  changeAmount(work, hold, hold.heldNanodollars + extra)
  work.grant(hold, extra, limits)
}

/** Books restored from a backup reuse hold ids assigned after it: only the request id says whose hold it is. */
function settle(work: WorkingSet, charge: Charge): Outcome {
  const cost = charge.costNanodollars
  const hold = work.holds.get(charge.id)
  if (hold?.requestId === charge.requestId) {
    close(work, hold, settledRow(charge, hold, work.now))
    return settled('open', cost, hold.heldNanodollars)
  }
  const row = work.usage.get(charge.id)
  if (row?.requestId !== charge.requestId) return settled('unknown', 0n, 0n)
  const reservation = correctable(row, cost)
  if (reservation === undefined) return settled('closed', row.costNanodollars, row.heldNanodollars)
  recharge(work, row, settledRow(charge, reservation, work.now))
  return settled('corrected', cost, reservation.heldNanodollars)
}

function settled(found: Settled['found'], cost: Nanodollars, held: Nanodollars): Settled {
  return { kind: 'settled', found, cost, overrun: overrunOf(cost, held) }
}

type Settled = Extract<Outcome, { readonly kind: 'settled' }>

/** The reservation to charge a late settlement against; undefined when the closed row stands. */
function correctable(row: UsageRow, cost: Nanodollars): UsageRow | undefined {
  // The charge was a guess; the node that was taken for dead knows the true cost.
  if (row.state === 'orphaned') return row
  // The request was dispatched after all. Its hold has been free for others since, so the whole cost is an overrun.
  return row.state === 'voided' && cost > 0n ? { ...row, heldNanodollars: 0n } : undefined
}

/** Voids an orphan, too: the node that was taken for dead knows that it never dispatched the request. */
function voidHold(work: WorkingSet, holdId: HoldId, reason: string): boolean {
  const hold = work.holds.get(holdId)
  const row = work.usage.get(holdId)
  if (hold !== undefined) close(work, hold, voidedRow(hold, reason, work.now))
  else if (row?.state === 'orphaned') recharge(work, row, voidedRow(row, reason, work.now))
  else return false
  return true
}

function orphan(work: WorkingSet, holdId: HoldId): boolean {
  const hold = work.holds.get(holdId)
  if (hold === undefined) return false
  close(work, hold, orphanedRow(hold, work.now))
  return true
}

function trim(work: WorkingSet, holdId: HoldId, amount: Nanodollars): boolean {
  const hold = work.holds.get(holdId)
  if (hold === undefined || amount >= hold.heldNanodollars) return false
  changeAmount(work, hold, amount)
  return true
}

function adjust(work: WorkingSet, item: Extract<Item, { kind: 'adjust' }>): boolean {
  const row = work.usage.get(item.holdId)
  if (row === undefined) return false
  recharge(work, row, adjustedRow(row, item.cost))
  work.enter({
    kind: 'adjust',
    accountId: row.keyId,
    groupId: row.groupId,
    budget: MAIN,
    periodSeq: row.keyPeriod,
    holdId: row.id,
    before: row.costNanodollars,
    after: item.cost,
    note: item.note,
  })
  return true
}

/** Ends a hold: what it held is freed, what it cost is spent, and its estimate of tokens becomes the true count. */
function close(work: WorkingSet, hold: Hold, row: UsageRow): void {
  const cost = row.costNanodollars
  work.move(hold, {
    held: -hold.heldNanodollars,
    spent: cost,
    overrun: overrunOf(cost, hold.heldNanodollars),
    inFlight: -1,
  })
  work.closeHold(hold, row)
  if (row.state === 'orphaned') return
  const tokens = row.inputTokens + row.outputTokens - hold.estimatedTokens
  for (const account of work.movedBy(hold)) {
    if (hasRates(account)) correct(account.rateWindow, hold.at, { now: work.now, tokens })
  }
}

/** Changes what a closed hold is charged, in the periods it was reserved in. */
export function recharge(work: WorkingSet, before: UsageRow, after: UsageRow): void {
  work.move(before, {
    held: 0n,
    spent: after.costNanodollars - before.costNanodollars,
    overrun:
      overrunOf(after.costNanodollars, after.heldNanodollars) -
      overrunOf(before.costNanodollars, before.heldNanodollars),
    inFlight: 0,
  })
  work.correctUsage(before, after)
}

function changeAmount(work: WorkingSet, hold: Hold, amount: Nanodollars): void {
  work.move(hold, { held: amount - hold.heldNanodollars, spent: 0n, overrun: 0n, inFlight: 0 })
  work.changeHold(hold, amount)
}

function balancesAfter(work: WorkingSet, items: readonly Item[]): ReadonlyMap<string, Balances> {
  const balances = new Map<string, Balances>()
  for (const item of items) {
    const keyId = keyOf(item)
    const accounts = balances.has(keyId) ? undefined : work.accounts(keyId)
    if (accounts !== undefined) balances.set(keyId, balancesOf(accounts, work.now))
  }
  return balances
}

/** What the reservation fixed, whether it is still a hold or already an orphan's row. */
type Reservation = Omit<Hold, 'outputTokens' | 'capped' | 'estimatedTokens' | 'endpoint'> &
  Pick<UsageRow, 'endpoint'>

/** The reservation has the last word on what decides the legs: its group and its model. */
export function settledRow(charge: Charge, reservation: Reservation, settledAt: number): UsageRow {
  // Written out, as a copy of the charge that is then changed takes several times as long.
  return {
    id: charge.id,
    requestId: charge.requestId,
    keyId: charge.keyId,
    groupId: reservation.groupId,
    costNanodollars: charge.costNanodollars,
    priceVersion: charge.priceVersion,
    endpoint: charge.endpoint,
    modelAsked: reservation.modelAsked,
    modelServed: charge.modelServed,
    provider: charge.provider,
    status: charge.status,
    errorCode: charge.errorCode,
    inputTokens: charge.inputTokens,
    cachedTokens: charge.cachedTokens,
    cacheWriteTokens: charge.cacheWriteTokens,
    cacheWriteLongTokens: charge.cacheWriteLongTokens,
    outputTokens: charge.outputTokens,
    reasoningTokens: charge.reasoningTokens,
    estimated: charge.estimated,
    latencyMs: charge.latencyMs,
    firstTokenMs: charge.firstTokenMs,
    endUser: charge.endUser,
    tags: charge.tags,
    attempts: charge.attempts,
    traceId: charge.traceId,
    state: 'settled',
    keyPeriod: reservation.keyPeriod,
    keyWindow: reservation.keyWindow,
    modelCap: reservation.modelCap,
    groupPeriod: reservation.groupPeriod,
    groupWindow: reservation.groupWindow,
    framePeriod: reservation.framePeriod,
    frameWindow: reservation.frameWindow,
    heldNanodollars: reservation.heldNanodollars,
    at: reservation.at,
    settledAt,
  }
}

/** No provider was called, so there is no status of an answer: the row gets that of an answer nobody received. */
function voidedRow(hold: Reservation, reason: string, settledAt: number): UsageRow {
  const row = unservedRow(hold, settledAt)
  return { ...row, state: 'voided', status: CLIENT_GONE_STATUS, errorCode: reason }
}

/** Charged in full: nobody can know how far the dead node's call got. */
function orphanedRow(hold: Hold, settledAt: number): UsageRow {
  return {
    ...unservedRow(hold, settledAt),
    state: 'orphaned',
    status: 500,
    errorCode: 'orphaned',
    costNanodollars: hold.heldNanodollars,
    estimated: true,
  }
}

/**
 * What a key had spent at another gateway, in the periods that run now: nothing was ever held for it, and it is no
 * request.
 */
export function takenOverRow(
  { id, requestId, cost }: TakenOver,
  periods: LegPeriods,
  now: number,
): UsageRow {
  const hold = { ...periods, id, requestId, heldNanodollars: 0n, at: now }
  const row = unservedRow({ ...hold, endpoint: TAKEN_OVER }, now)
  return { ...row, state: 'settled', status: 200, costNanodollars: cost }
}

type TakenOver = {
  readonly id: HoldId
  readonly requestId: string
  readonly cost: Nanodollars
}

/** When a charge is raised, the difference has been free for others in between, so all of it is an overrun. */
function adjustedRow(row: UsageRow, cost: Nanodollars): UsageRow {
  const isRaise = cost > row.costNanodollars
  const { costNanodollars: charged, heldNanodollars: held } = row
  const heldNanodollars = isRaise && charged < held ? charged : held
  return { ...row, state: 'adjusted', costNanodollars: cost, heldNanodollars }
}

/** A cost above its hold is charged in full; the excess is counted, so that it can be seen. */
export function overrunOf(cost: Nanodollars, held: Nanodollars): Nanodollars {
  return cost > held ? cost - held : 0n
}

function unservedRow(hold: Reservation, settledAt: number): Omit<UsageRow, 'state' | 'status'> {
  return {
    id: hold.id,
    requestId: hold.requestId,
    keyId: hold.keyId,
    groupId: hold.groupId,
    keyPeriod: hold.keyPeriod,
    keyWindow: hold.keyWindow,
    modelCap: hold.modelCap,
    groupPeriod: hold.groupPeriod,
    groupWindow: hold.groupWindow,
    framePeriod: hold.framePeriod,
    frameWindow: hold.frameWindow,
    heldNanodollars: hold.heldNanodollars,
    endpoint: hold.endpoint,
    modelAsked: hold.modelAsked,
    modelServed: null,
    provider: null,
    errorCode: null,
    ...NO_USAGE,
    costNanodollars: 0n,
    priceVersion: null,
    estimated: false,
    latencyMs: settledAt - hold.at,
    firstTokenMs: null,
    traceId: null,
    endUser: null,
    tags: '{}',
    attempts: '[]',
    at: hold.at,
    settledAt,
  }
}
