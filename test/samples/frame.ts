// The frame of a new database, for tests to which it does not matter.
import type { FrameSettings } from '../../src/store/frame.ts'

export const SAMPLE_FRAME: FrameSettings = {
  limitNanodollars: 100_000_000_000n,
  period: 'month',
  timezone: 'UTC',
  weekStart: 'mon',
}
