// The legs of a request: the budgets that it must fit, and that its hold and its usage row belong to, however late it
// ends. One list, in the order in which a refusal prefers them: key, group, frame; of each the main one, window, model.
import {
  capOf,
  MAIN,
  WINDOW,
  type Budget,
  type BudgetName,
  type FurtherBudget,
} from '../../store/accounts/budgets.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type { Scope } from '../ledger.ts'
import type { Account, LegPeriods } from './rows.ts'

/** A budget of an account, in one of its periods. */
export type Leg = {
  readonly scope: Exclude<Scope, 'request'>
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

/** The accounts above a key, and the key. */
export type Accounts = {
  readonly key: Account
  readonly group: Account | null
  readonly frame: Account
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
