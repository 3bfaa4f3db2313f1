// A bar that shows how much of one limit is used. `valueText` must mention every segment, because a bar is only a
// picture. Never mix two limits in one meter.
import { useId } from 'react'
import { useFormat } from '../i18n/use-format.ts'
import styles from './meter.module.css'

type MeterSegment = {
  readonly kind: 'spent' | 'others' | 'held'
  /** In the unit of `max`; only decides a width, so a float will do. */
  readonly value: number
}

type MeterProps = {
  readonly label: string
  readonly valueText: string
  readonly segments: readonly MeterSegment[]
  readonly max: number
  readonly tone?: 'calm' | 'warn' | 'bad'
  /** Marks at these shares of the limit. */
  readonly ticks?: readonly number[]
  readonly height?: number
}

export function Meter({
  label,
  valueText,
  segments,
  max,
  tone,
  ticks = [],
  height = 8,
}: MeterProps) {
  const pattern = useId()
  const marks = ticks.filter((share) => share > 0 && share < 1)
  const used = segments.reduce((sum, { value }) => sum + value, 0)
  const drawn = placed(segments, Math.max(max, used, Number.MIN_VALUE))
  return (
    <div
      className={styles['meter']}
      data-tone={tone ?? toneOf(used, max)}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percentOf(used, max)}
      aria-valuetext={valueText}
    >
      <svg className={styles['bar']} height={height} aria-hidden="true" focusable="false">
        <pattern id={pattern} width="5" height="5" patternUnits="userSpaceOnUse">
          <rect className={styles['held']} width="5" height="5" />
          <path className={styles['stripe']} d="M-1 6 6 -1M-3.5 3.5 3.5 -3.5M1.5 8.5 8.5 1.5" />
        </pattern>
        {drawn.map(({ kind, start, width }) => (
          <rect
            key={kind}
            className={kind === 'held' ? undefined : styles[kind]}
            fill={kind === 'held' ? `url(#${pattern})` : undefined}
            x={`${start}%`}
            width={`${width}%`}
            height={height}
          />
        ))}
        {marks.map((share) => (
          <line
            key={share}
            className={styles['tick']}
            x1={`${share * 100}%`}
            x2={`${share * 100}%`}
            y2={height}
          />
        ))}
      </svg>
      {marks.length > 0 && <TickLabels marks={marks} />}
    </div>
  )
}

/** Marks closer than this share one label, so that labels do not overlap. */
const labelShare = 0.095

function TickLabels({ marks }: { readonly marks: readonly number[] }) {
  const format = useFormat()
  let last = -1
  const labelled = marks
    .toSorted((a, b) => a - b)
    .filter((share) => {
      if (share - last < labelShare) return false
      last = share
      return true
    })
  return (
    <div className={styles['labels']} aria-hidden="true">
      {labelled.map((share) => (
        <span key={share} style={{ insetInlineStart: `${share * 100}%` }}>
          {format.percent(share)}
        </span>
      ))}
    </div>
  )
}

/**
 * Rounded to a hundredth: the smallest amounts would print with an exponent, which assistive technology cannot read.
 */
function percentOf(used: number, max: number): number {
  return used >= max ? 100 : Math.round((used / max) * 10_000) / 100
}

/** Calm below 80%, a warning from there, bad when nothing remains. */
export function toneOf(used: number, max: number): 'calm' | 'warn' | 'bad' {
  if (used >= max) return 'bad'
  return used >= max * 0.8 ? 'warn' : 'calm'
}

/** The position of each segment in percent; anything used shows at least a sliver. */
function placed(segments: readonly MeterSegment[], whole: number) {
  let start = 0
  return segments
    .filter(({ value }) => value > 0)
    .map(({ kind, value }) => {
      const width = Math.max((value / whole) * 100, 0.5)
      const place = { kind, start, width }
      start += width
      return place
    })
}
