// What was left of a budget over its period, and what the pace so far makes of it. Pure; floats only decide where lines
// are drawn.

export type Point = { readonly at: number; readonly left: number }

type Budget = {
  readonly limit: string
  readonly spent: string
  readonly period_starts_at: string | null
  readonly resets_at: string | null
  readonly forecast: {
    readonly spent_at_reset: string
    readonly exhausted_at: string | null
  } | null
}

/** What was spent in the day or hour that begins then. */
type Step = { readonly at: number; readonly cost: string }

/**
 * From the whole limit at the start to what is left now. The books have the last word: what was corrected by hand is in
 * no day of the report.
 */
export function leftSoFar(
  { limit, spent, period_starts_at: start }: Budget,
  steps: readonly Step[],
  { now, stepMs }: { readonly now: number; readonly stepMs: number },
): readonly Point[] {
  const from = start === null ? now : Date.parse(start)
  const most = Number(limit)
  const last = { at: now, left: left(most, Number(spent)) }
  let sum = 0
  const points = steps
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, cost }) => {
      sum += Number(cost)
      return { at: at + stepMs, left: left(most, sum) }
    })
    .filter(({ at }) => at > from && at < now)
  return [{ at: from, left: most }, ...points, last]
}

/** Where it goes on from now; undefined = nobody can tell. */
export function forecastEnd({ limit, resets_at: reset, forecast }: Budget): Point | undefined {
  if (forecast === null) return undefined
  if (forecast.exhausted_at !== null) return { at: Date.parse(forecast.exhausted_at), left: 0 }
  if (reset === null) return undefined
  return { at: Date.parse(reset), left: left(Number(limit), Number(forecast.spent_at_reset)) }
}

/** Spending beyond a limit that was lowered leaves nothing. */
function left(limit: number, spent: number): number {
  return Math.max(0, limit - spent)
}
