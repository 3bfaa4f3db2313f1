// How much a run does: all of it, or, to try the benchmark itself out, a share of it (BENCH_EFFORT=0.1).

export const effort = Number(process.env['BENCH_EFFORT'] ?? 1)
if (!(effort > 0 && effort <= 1)) {
  throw new Error('BENCH_EFFORT is the share of a whole run: above 0, at most 1')
}

/** That share of a count, as a whole number. */
export function share(whole: number): number {
  return Math.max(1, Math.round(whole * effort))
}
