// The effort of a run: full, or a share of it to try out the benchmark itself (BENCH_EFFORT=0.1).

export const effort = Number(process.env['BENCH_EFFORT'] ?? 1)
if (!(effort > 0 && effort <= 1)) {
  throw new Error('BENCH_EFFORT is the share of a whole run: above 0, at most 1')
}

/** The share of a count, as a whole number of at least 1. */
export function share(whole: number): number {
  return Math.max(1, Math.round(whole * effort))
}
