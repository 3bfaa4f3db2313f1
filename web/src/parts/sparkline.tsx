// A few bars that show a trend at a glance; the numbers are in the title and in hidden text.
import styles from './sparkline.module.css'

type SparklineProps = {
  readonly values: readonly number[]
  /** All values in words. */
  readonly summary: string
  readonly height?: number
}

const barWidth = 6
const gap = 2

export function Sparkline({ values, summary, height = 20 }: SparklineProps) {
  const most = Math.max(...values, Number.MIN_VALUE)
  return (
    <span title={summary}>
      <svg
        className={styles['bars']}
        aria-hidden="true"
        focusable="false"
        width={values.length * (barWidth + gap) - gap}
        height={height}
      >
        {values.map((value, index) => {
          // Zero is a line at the bottom, to distinguish an idle day from a missing one.
          const tall = value > 0 ? Math.max((value / most) * height, 2) : 1
          return (
            <rect
              // The position identifies a bar.
              key={index}
              className={value > 0 ? undefined : styles['none']}
              x={index * (barWidth + gap)}
              y={height - tall}
              width={barWidth}
              height={tall}
              rx={1}
            />
          )
        })}
      </svg>
      <span className="visually-hidden">{summary}</span>
    </span>
  )
}
