// An account without a limit and an ask that costs nothing; tests state what they need beyond that.
import { NO_COST } from '../../src/catalog/worst-case.ts'
import type { Balances } from '../../src/ledger/ledger.ts'
import type { CheckedAsk } from '../../src/ledger/rules/batch.ts'
import {
  balancesOf,
  budgetOf,
  legsOf,
  periodsNow,
  type Accounts,
} from '../../src/ledger/rules/account.ts'
import type { Legs } from '../../src/ledger/rules/judge.ts'
import { unpackWindow } from '../../src/ledger/rules/rates.ts'
import type { Account } from '../../src/ledger/rules/rows.ts'

/** A new one each time: decisions change accounts in place. */
export function sampleAccount(changes: Partial<Account>): Account {
  return {
    id: 'key_a',
    status: 'active',
    expiresAt: null,
    allowVersion: 1,
    groupId: null,
    requestCostMax: null,
    limit: null,
    topUp: 0n,
    spent: 0n,
    held: 0n,
    overrun: 0n,
    grantedLimit: 0n,
    inFlight: 0,
    rpm: null,
    tpm: null,
    concurrency: null,
    period: 'never',
    timezone: 'UTC',
    weekStart: 'mon',
    periodSeq: 1,
    periodStartsAt: 0,
    periodEndsAt: null,
    framePeriodSeq: 0,
    frameSpent: 0n,
    summedDay: 0,
    summedKey: '',
    rateWindow: unpackWindow('', 0),
    budgets: [],
    ...changes,
  }
}

/** What a request for the model `m` is judged against, on these accounts. */
export function sampleLegs({ key, group = null, frame }: Optional<Accounts, 'group'>): Legs {
  const periods = periodsNow({ key, group, frame }, 'm')
  const budgets = legsOf(periods).flatMap(({ scope, budget: name }) => {
    const account = scope === 'frame' ? frame : scope === 'group' ? group : key
    const budget = account === null ? undefined : budgetOf(account, name)
    return budget === undefined ? [] : [{ scope, budget }]
  })
  return { periods, key, group, budgets }
}

/** The balances of a key that nothing limits. */
export function sampleBalances(changes: Partial<Balances> = {}): Balances {
  const frame = sampleAccount({ id: 'frame' })
  return { ...balancesOf({ key: sampleAccount({}), group: null, frame }, 0), ...changes }
}

type Optional<Whole, Name extends keyof Whole> = Omit<Whole, Name> & Partial<Pick<Whole, Name>>

export const SAMPLE_ASK: CheckedAsk = {
  requestId: 'req_1',
  keyId: 'key_a',
  groupId: null,
  groupVersion: 0,
  allowVersion: 1,
  endpoint: 'chat',
  modelAsked: 'm',
  candidates: [NO_COST],
  whenTight: 'cap',
  estimatedTokens: 0,
  recounted: true,
}
