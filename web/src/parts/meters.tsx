// Bars: how much of a limit is used, and a trend at a glance. A bar is only a picture, so words say the same.
import { useId } from 'react'
import type { Period } from '../../../src/core/periods.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './meters.module.css'

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

export function Meter(props: MeterProps) {
  const { label, valueText, segments, max, tone, ticks = [], height = 8 } = props
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
  const { format } = useTranslation()
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

/** To a hundredth: assistive technology cannot read the exponent of a tiny amount. */
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

type BudgetMeterProps = {
  readonly label: string
  readonly budget: { readonly spent: string; readonly held: string; readonly limit: string }
  readonly height?: number
  readonly ticks?: readonly number[]
}

/** Where the meter of the frame has its marks. */
export const frameTicks = [0.5, 0.8]

/** How much of a budget is spent and held: a meter with the same numbers in words. */
export function BudgetMeter({ label, budget, height, ticks }: BudgetMeterProps) {
  const { t, format } = useTranslation()
  const { spent, held, limit } = budget
  const valueText = t('budget.valueText', {
    spent: format.money(spent),
    held: format.money(held),
    limit: format.money(limit),
    percent: format.percent(shareOf(spent, limit)),
  })
  return (
    <Meter
      label={label}
      valueText={valueText}
      max={Number(limit)}
      segments={[
        { kind: 'spent', value: Number(spent) },
        { kind: 'held', value: Number(held) },
      ]}
      height={height}
      ticks={ticks}
    />
  )
}

type BudgetCellProps = {
  /** Whose budget it is. */
  readonly name: string
  readonly budget: {
    readonly limit: string | null
    readonly spent: string
    readonly held: string
    readonly period: Period
  }
}

/** A budget in a cell of a table: in words, with a small meter. */
export function BudgetCell({ name, budget }: BudgetCellProps) {
  const { t, format } = useTranslation()
  const { limit, spent, period } = budget
  if (limit === null)
    return (
      <div className={styles['cell']}>
        {t('budget.part.spent', { amount: format.money(spent) })}
        <span className={styles['sub']}>{t('budget.noOwnLimit')}</span>
      </div>
    )
  return (
    <div className={styles['cell']}>
      <span className={styles['amounts']}>
        {t('budget.spentOf', { spent: format.money(spent), limit: format.money(limit) })}
      </span>
      <BudgetMeter label={t('budget.ofKey', { name })} budget={{ ...budget, limit }} height={6} />
      <span className={styles['sub']}>{t(`periodShort.${period}`)}</span>
    </div>
  )
}

/** A share of a budget, from 0 to 1 and above; an empty budget counts as fully spent. */
export function shareOf(amount: string, limit: string): number {
  return Number(limit) === 0 ? 1 : Number(amount) / Number(limit)
}

type SparklineProps = {
  readonly values: readonly number[]
  /** All values in words. */
  readonly summary: string
  readonly height?: number
}

const barWidth = 6
const gap = 2

/** A few bars that show a trend at a glance; the numbers are in the title and in hidden text. */
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
