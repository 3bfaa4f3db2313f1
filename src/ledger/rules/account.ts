// What follows from the rows of accounts alone: the legs of a request, whether a period of a budget is over, and the
// balances of a key.
import { tighterLimit, type Nanodollars } from '../../core/money.ts'
import { periodAt } from '../../core/periods.ts'
import { DAY_MS } from '../../core/units.ts'
import {
  cappedModel,
  capOf,
  closedBudget,
  limitOf,
  MAIN,
  remainingOf,
  WINDOW,
  type Budget,
  type BudgetName,
  type FurtherBudget,
} from '../../store/accounts/budgets.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type {
  Balance,
  Balances,
  ModelBalance,
  RateBalance,
  RateBalances,
  BudgetScope,
} from '../ledger.ts'
import { windowEndsAt } from './rates.ts'
import type { Account, ClosedPeriod, LegPeriods } from './rows.ts'

/** The accounts above a key, and the key. */
export type Accounts = {
  readonly key: Account
  readonly group: Account | null
  readonly frame: Account
}

// The legs of a request: the budgets that it must fit, and that its hold and its usage row belong to, however late it
// ends. One list, in the order in which a refusal prefers them: key, group, frame; of each the main one, window, model.

/** A budget of an account, in one of its periods. */
export type Leg = {
  readonly scope: Exclude<BudgetScope, 'request'>
  readonly accountId: string
  readonly budget: BudgetName
  readonly seq: number
}

export function legsOf(entry: LegPeriods): readonly Leg[] {
  const { keyId, keyWindow, modelCap, groupId, groupPeriod, groupWindow, frameWindow } = entry
  const legs: Leg[] = [{ scope: 'key', accountId: keyId, budget: MAIN, seq: entry.keyPeriod }]
  if (keyWindow !== null) {
    legs.push({ scope: 'key', accountId: keyId, budget: WINDOW, seq: keyWindow })
  }
  if (modelCap !== null) {
    legs.push({ scope: 'model', accountId: keyId, budget: capOf(entry.modelAsked), seq: modelCap })
  }
  if (groupId !== null && groupPeriod !== null) {
    legs.push({ scope: 'group', accountId: groupId, budget: MAIN, seq: groupPeriod })
  }
  if (groupId !== null && groupWindow !== null) {
    legs.push({ scope: 'group', accountId: groupId, budget: WINDOW, seq: groupWindow })
  }
  legs.push({ scope: 'frame', accountId: FRAME_ID, budget: MAIN, seq: entry.framePeriod })
  if (frameWindow !== null) {
    legs.push({ scope: 'frame', accountId: FRAME_ID, budget: WINDOW, seq: frameWindow })
  }
  return legs
}

/** The periods that run now of everything that a request for this model must fit. */
export function periodsNow({ key, group, frame }: Accounts, modelAsked: string): LegPeriods {
  const hasMore = key.budgets.length > 0
  return {
    keyId: key.id,
    groupId: group === null ? null : group.id,
    modelAsked,
    keyPeriod: key.periodSeq,
    keyWindow: hasMore ? seqOf(key, WINDOW) : null,
    modelCap: hasMore ? seqOf(key, capOf(modelAsked)) : null,
    groupPeriod: group === null ? null : group.periodSeq,
    groupWindow: group === null ? null : seqOf(group, WINDOW),
    framePeriod: frame.periodSeq,
    frameWindow: seqOf(frame, WINDOW),
  }
}

function seqOf(account: Account, name: FurtherBudget['name']): number | null {
  return furtherBudget(account, name)?.periodSeq ?? null
}

/** Undefined when the account has none of this name now. */
export function budgetOf(account: Account, name: BudgetName): Budget | undefined {
  return name === MAIN ? account : furtherBudget(account, name)
}

export function furtherBudget(
  { budgets }: Account,
  name: FurtherBudget['name'],
): FurtherBudget | undefined {
  for (const budget of budgets) if (budget.name === name) return budget
  return undefined
}

/** Whether the day that an hour of a key belongs to is summed up already: then a change to it changes that sum as well. */
export function isSummedUp(
  { summedDay, summedKey }: Account,
  { keyId, startsAt }: { readonly keyId: string; readonly startsAt: number },
): boolean {
  if (startsAt < summedDay) return true
  return startsAt < summedDay + DAY_MS && keyId <= summedKey
}

/** Whether its rate window is kept. */
export function hasRates({ rpm, tpm }: Account): boolean {
  return rpm !== null || tpm !== null
}

/**
 * Starts the next period of a budget if the current one is over, and returns the closed one, which keeps its open holds.
 * A clock that is set back never reopens a closed period: the current one runs on to its end.
 */
export function openPeriod(
  account: Account,
  budget: Account | FurtherBudget,
  now: number,
): ClosedPeriod | undefined {
  const { period, periodEndsAt } = budget
  if (periodEndsAt === null || now < periodEndsAt) return undefined
  const closed = closePeriod(account, budget, periodEndsAt)
  const { timezone, weekStart } = account
  const { startsAt, endsAt } = periodAt({ period, timezone, weekStart }, now)
  budget.periodStartsAt = startsAt
  budget.periodEndsAt = endsAt
  return closed
}

/** Ends the current period at `endsAt` and clears its amounts; the caller sets when the next period ends. */
export function closePeriod(
  account: Account,
  budget: Account | FurtherBudget,
  endsAt: number,
): ClosedPeriod {
  const closed: ClosedPeriod = {
    accountId: account.id,
    budget: 'name' in budget ? budget.name : MAIN,
    ...closedBudget(budget, endsAt),
  }
  budget.periodSeq += 1
  budget.periodStartsAt = endsAt
  budget.topUp = 0n
  budget.spent = 0n
  budget.held = 0n
  budget.overrun = 0n
  budget.grantedLimit = 0n
  return closed
}

/** A group that is not among the accounts at hand is left out, as that of a key which was just moved. */
export function balancesOf({ key, group, frame }: Accounts, now: number): Balances {
  const { requests, tokens, concurrency } = rateBalances(key, now)
  return {
    key: balanceOf(key),
    keyWindow: windowOf(key),
    models: key.budgets.length === 0 ? NO_CAPS : capsOf(key),
    groupId: group === null ? null : group.id,
    group: group === null ? null : balanceOf(group),
    groupWindow: group === null ? null : windowOf(group),
    groupRates: group === null ? null : rateBalances(group, now),
    frame: balanceOf(frame),
    frameWindow: windowOf(frame),
    requests,
    tokens,
    concurrency,
  }
}

/** What is left for a call to this model, on the leg with the least; null = nothing limits it. */
export function leastRemaining(balances: Balances, model: string): Nanodollars | null {
  const { key, keyWindow, models, group, groupWindow, frame, frameWindow } = balances
  let least = tighterLimit(key.remainingNanodollars, frame.remainingNanodollars)
  // Most keys have none of these.
  for (const leg of [keyWindow, group, groupWindow, frameWindow]) {
    if (leg !== null) least = tighterLimit(least, leg.remainingNanodollars)
  }
  for (const cap of models) {
    if (cap.model === model) least = tighterLimit(least, cap.remainingNanodollars)
  }
  return least
}

/** The same as those may know who are confined to a group: nothing of the frame, except that it has nothing left. */
export function remainingBelowFrame(balances: Balances, model: string): Nanodollars | null {
  if (isFrameExhausted(balances)) return 0n
  const frame = { ...balances.frame, remainingNanodollars: null }
  return leastRemaining({ ...balances, frame, frameWindow: null }, model)
}

/** Either of its budgets refuses whatever costs anything. */
export function isFrameExhausted({ frame, frameWindow }: Balances): boolean {
  return [frame, frameWindow].some((budget) => budget?.remainingNanodollars === 0n)
}

const NO_CAPS: readonly ModelBalance[] = []

function capsOf({ budgets }: Account): readonly ModelBalance[] {
  return budgets.flatMap((budget) => {
    const model = cappedModel(budget.name)
    return model === undefined ? [] : { model, ...balanceOf(budget) }
  })
}

function windowOf(account: Account): Balance | null {
  const window = furtherBudget(account, WINDOW)
  return window === undefined ? null : balanceOf(window)
}

function balanceOf(budget: Budget): Balance {
  return {
    period: budget.period,
    limitNanodollars: limitOf(budget),
    spentNanodollars: budget.spent,
    heldNanodollars: budget.held,
    remainingNanodollars: remainingOf(budget),
    startsAt: budget.periodStartsAt,
    resetsAt: budget.periodEndsAt,
  }
}

function rateBalances(account: Account, now: number): RateBalances {
  const concurrency = { limit: account.concurrency, inFlight: account.inFlight }
  if (!hasRates(account)) return { requests: null, tokens: null, concurrency }
  const window = account.rateWindow
  const resetsAt = windowEndsAt(window, now)
  const left = (limit: number | null, used: number): RateBalance | null =>
    limit === null ? null : { limit, remaining: Math.max(0, limit - used), resetsAt }
  return {
    requests: left(account.rpm, window.requests),
    tokens: left(account.tpm, window.tokens),
    concurrency,
  }
}
