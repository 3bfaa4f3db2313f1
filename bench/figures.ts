// Combines the figures of several rounds: the median and the spread.

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/** Half the distance between the smallest and the largest, as a share of the median. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values)
}
