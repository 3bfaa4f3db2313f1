// An account without a limit and an ask that costs nothing; tests state what they need beyond that.
import { NO_COST } from '../../src/catalog/worst-case.ts'
import type { CheckedAsk } from '../../src/ledger/rules/batch.ts'
import { unpackWindow } from '../../src/ledger/rules/rates.ts'
import type { Account } from '../../src/ledger/rules/rows.ts'

/** A new one each time: decisions change accounts in place. */
export function sampleAccount(changes: Partial<Account>): Account {
  return {
    id: 'key_a',
    status: 'active',
    expiresAt: null,
    allowVersion: 1,
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
    rateWindow: unpackWindow('', 0),
    ...changes,
  }
}

export const SAMPLE_ASK: CheckedAsk = {
  requestId: 'req_1',
  keyId: 'key_a',
  allowVersion: 1,
  endpoint: 'chat',
  modelAsked: 'm',
  candidates: [NO_COST],
  whenTight: 'cap',
  estimatedTokens: 0,
  recounted: true,
}
