// Lengths of time that are counted by the clock. A day on the calendar may be longer or shorter: periods.ts.

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
