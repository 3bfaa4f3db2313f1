// A ledger that does nothing: grants everything and keeps no books, to show the cost of the real one. Only the
// benchmark can put it in place (rebuilt.ts); the product has no such switch.
import type { Balance, Balances } from '../../src/ledger/ledger.ts'
import type { NodeLedger } from '../../src/ledger/nodes/open.ts'

const BALANCE: Balance = {
  period: 'never',
  limitNanodollars: 1_000_000_000n,
  spentNanodollars: 0n,
  heldNanodollars: 0n,
  remainingNanodollars: 1_000_000_000n,
  startsAt: 0,
  resetsAt: null,
}
const BALANCES: Balances = {
  key: BALANCE,
  keyWindow: null,
  models: [],
  groupId: null,
  group: null,
  groupWindow: null,
  groupRates: null,
  frame: BALANCE,
  frameWindow: null,
  requests: { limit: 1_000_000, remaining: 1_000_000, resetsAt: 0 },
  tokens: null,
  concurrency: { limit: null, inFlight: 0 },
}

/** Replaces the function of the same name in ledger/nodes/open.ts. */
export async function openLedger(): Promise<NodeLedger> {
  let holds = 0
  return {
    reserve: async ({ candidates }) => ({
      reserved: true,
      holdId: ++holds,
      groupId: null,
      amountNanodollars: 1_000_000n,
      outputTokens: candidates[0]?.outputTokens ?? 0,
      capped: false,
      waitedMs: 0,
      balances: BALANCES,
    }),
    dryRun: async () => ({ reserved: false, reason: 'unavailable' }),
    trim: async () => {},
    extend: async () => true,
    settle: async ({ costNanodollars }) => ({
      durableIn: 'database',
      costNanodollars,
      overrunNanodollars: 0n,
      balances: BALANCES,
    }),
    void: async () => {},
    balances: async () => BALANCES,
    countRefused: () => {},
    canWrite: () => true,
    close: async () => {},
  }
}
