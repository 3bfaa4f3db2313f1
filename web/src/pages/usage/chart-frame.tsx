// What charts have around them: the scale beside the plot, as wide as its longest amount, and the axis below it.
import type { ReactNode } from 'react'
import styles from './chart-frame.module.css'

type ChartFrameProps = {
  /** The marks of the scale in words, evenly apart, from the bottom to the top. */
  readonly scale: readonly string[]
  readonly plot: ReactNode
  /** In the width of the plot. */
  readonly axis: ReactNode
  /** In the width of both. */
  readonly children: ReactNode
}

export function ChartFrame({ scale, plot, axis, children }: ChartFrameProps) {
  return (
    <figure className={styles['chart']}>
      <div className={styles['scale']} aria-hidden="true">
        {scale.map((words, index) => (
          // Rounded, two marks may read the same.
          <span key={index}>{words}</span>
        ))}
      </div>
      <div className={styles['plot']}>{plot}</div>
      <div className={styles['axis']}>{axis}</div>
      {children}
    </figure>
  )
}
