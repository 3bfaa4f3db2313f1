// The pace of a node's duties, for tests to which it does not matter.
import { DAY_MS } from '../../src/core/units.ts'
import type { LedgerOptions } from '../../src/ledger/nodes/open.ts'

export const SAMPLE_PACE: Pick<LedgerOptions, 'beatMs' | 'deadAfterMs' | 'keepUsageMs'> = {
  beatMs: 3_000,
  deadAfterMs: 15_000,
  keepUsageMs: 400 * DAY_MS,
}
