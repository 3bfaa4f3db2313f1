// Lengths of time that are counted by the clock. A day on the calendar may be longer or shorter: periods.ts.

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** What a new request waits for a database that cannot be reached. */
export const OUTAGE_MS_MAX = 5_000
