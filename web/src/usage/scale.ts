// The marks beside a chart: few, round, and none twice. Pure.

const stepsMax = 4
const roundSteps = [1, 2, 2.5, 5, 10] as const

/** From 0 to at least the most; whole ones for what is counted and never divided. */
export function marksOf(most: number, isWhole: boolean): readonly number[] {
  const step = most <= 0 ? 1 : roundStep(most / stepsMax, isWhole)
  const count = Math.max(1, Math.ceil(most / step))
  // By multiplying, so that no rounding of floats adds up.
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** The least round number from this on. */
function roundStep(least: number, isWhole: boolean): number {
  const size = 10 ** Math.floor(Math.log10(least))
  const step = roundSteps
    .map((each) => each * size)
    .find((each) => each >= least && (!isWhole || Number.isInteger(each)))
  return step ?? 1
}
