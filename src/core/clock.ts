// The only reader of the time. Wall time names moments for people; everything that waits or measures uses the
// monotonic clock, which no administrator can set.

export interface Clock {
  /** Milliseconds since 1970, for records. */
  now(): number
  /** Milliseconds since some fixed moment, for durations. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: Date.now,
  monotonicMs: performance.now.bind(performance),
}
