// When alerts are sent by default, and the limits of other choices: for the store, which refuses, and for the forms,
// which say so beforehand.

/** Percent of the limit. */
export const USUAL_THRESHOLDS: readonly number[] = [50, 80, 100]
export const THRESHOLD_MAX = 1_000
export const THRESHOLDS_MAX = 10

/** Whole days before a key expires. */
export const USUAL_REMINDERS: readonly number[] = [30, 10, 1]
export const REMINDER_DAYS_MAX = 365
export const REMINDERS_MAX = 10
