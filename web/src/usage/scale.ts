// The axis marks of a chart: few, round and distinct. Pure.

const stepsMax = 4
const roundSteps = [1, 2, 2.5, 5, 10] as const

/** Marks from 0 to at least `most`; only whole numbers for counts. */
export function marksOf(most: number, isWhole: boolean): readonly number[] {
  const step = most <= 0 ? 1 : roundStep(most / stepsMax, isWhole)
  const count = Math.max(1, Math.ceil(most / step))
  // Multiply instead of adding, so that float rounding does not accumulate.
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** The smallest round step that is at least `least`. */
function roundStep(least: number, isWhole: boolean): number {
  const size = 10 ** Math.floor(Math.log10(least))
  const step = roundSteps
    .map((each) => each * size)
    .find((each) => each >= least && (!isWhole || Number.isInteger(each)))
  return step ?? 1
}
