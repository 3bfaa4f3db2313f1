// Bars over time, stacked by series. The arrow keys move from bar to bar, and the values of a bar are written out
// below; a table always shows the same numbers.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react'
import { useTranslation } from '../../i18n/i18n.ts'
import { ChartFrame } from './chart-frame.tsx'
import styles from './chart.module.css'
import { type Bucket, type Course, marksOf } from './figures.ts'

type UsageChartProps = {
  readonly course: Course
  /** The names of the series, as links where they lead somewhere. */
  readonly legend: readonly ReactNode[]
  /** The chart in one sentence. */
  readonly summary: string
  /** True for counts, false for amounts. */
  readonly isWhole: boolean
  readonly formatValue: (value: number) => string
  /** Formats the axis marks together, because they are compared with each other. */
  readonly formatMarks: (marks: readonly number[]) => readonly string[]
  readonly formatMoment: (at: string) => string
}

const gapShare = 0.2
const labelsMax = 7

export function UsageChart(props: UsageChartProps) {
  const { course, legend, summary, isWhole, formatValue, formatMarks, formatMoment } = props
  const { series, buckets } = course
  const [pointed, setPointed] = useState<number>()
  const marks = marksOf(Math.max(0, ...buckets.map(totalOf)), isWhole)
  const most = marks.at(-1) ?? 1
  const step = 100 / Math.max(buckets.length, 1)
  const walk = (event: KeyboardEvent) => {
    const to = nextIndex(event.key, pointed, buckets.length)
    if (to === undefined) return
    event.preventDefault()
    setPointed(to)
  }
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * buckets.length)
    setPointed(Math.min(Math.max(index, 0), buckets.length - 1))
  }
  // A finger that is lifted leaves, too: what it pointed at stays to be read.
  const leave = ({ pointerType }: PointerEvent<HTMLElement>) => {
    if (pointerType !== 'touch') setPointed(undefined)
  }
  return (
    <ChartFrame
      scale={formatMarks(marks)}
      plot={
        <div
          className={styles['plot']}
          role="img"
          aria-label={summary}
          tabIndex={0}
          onKeyDown={walk}
          onPointerDown={point}
          onPointerMove={point}
          onPointerLeave={leave}
        >
          <svg aria-hidden="true" focusable="false">
            {marks.map((mark) => {
              const y = `${(1 - mark / most) * 100}%`
              return <line key={mark} className={styles['grid']} x2="100%" y1={y} y2={y} />
            })}
            {pointed !== undefined && (
              <rect
                className={styles['pointed']}
                x={`${pointed * step}%`}
                width={`${step}%`}
                height="100%"
              />
            )}
            {buckets.map((bucket, index) => (
              <Bar key={bucket.at} bucket={bucket} most={most} place={{ index, step }} />
            ))}
          </svg>
        </div>
      }
      axis={<Axis buckets={buckets} formatMoment={formatMoment} />}
    >
      <Reading
        bucket={pointed === undefined ? undefined : buckets[pointed]}
        series={series}
        formatValue={formatValue}
        formatMoment={formatMoment}
      />
      {isNamed(series) && <Legend series={series} legend={legend} />}
    </ChartFrame>
  )
}

/** Without groups there is a single unnamed series: the chart as a whole. */
function isNamed(series: readonly string[]): boolean {
  return series.some((name) => name !== '')
}

function Legend({ series, legend }: Pick<Course, 'series'> & Pick<UsageChartProps, 'legend'>) {
  return (
    <ul className={styles['legend']}>
      {series.map((name, index) => (
        <li key={name}>
          <span className={styles['swatch']} style={{ background: colourOf(index) }} />
          {legend[index]}
        </li>
      ))}
    </ul>
  )
}

type BarProps = {
  readonly bucket: Bucket
  readonly most: number
  readonly place: { readonly index: number; readonly step: number }
}

function Bar({ bucket, most, place: { index, step } }: BarProps) {
  const x = `${(index + gapShare / 2) * step}%`
  const width = `${step * (1 - gapShare)}%`
  if (!bucket.isKnown)
    return (
      <rect
        className={styles['unknown']}
        x={x}
        y="100%"
        width={width}
        height={2}
        transform="translate(0 -2)"
      />
    )
  let top = 100
  return bucket.values.map((value, series) => {
    const height = most === 0 ? 0 : (value / most) * 100
    top -= height
    return (
      <rect
        // The position in the stack identifies a segment.
        key={series}
        x={x}
        y={`${top}%`}
        width={width}
        height={`${height}%`}
        fill={colourOf(series)}
      />
    )
  })
}

type AxisProps = Pick<UsageChartProps, 'formatMoment'> & { readonly buckets: readonly Bucket[] }

/** Labels some of the moments below their bars, always including the last; a narrow screen shows fewer of them. */
function Axis({ buckets, formatMoment }: AxisProps) {
  const apart = Math.ceil(buckets.length / labelsMax)
  const isLabelled = (index: number) => (buckets.length - 1 - index) % apart === 0
  return (
    <div className={styles['axis']} aria-hidden="true">
      {buckets.map(
        ({ at }, index) =>
          isLabelled(index) && (
            <span key={at} style={placeOf(index, buckets.length)}>
              {formatMoment(at)}
            </span>
          ),
      )}
    </div>
  )
}

function placeOf(index: number, count: number) {
  return index === count - 1 ? {} : { left: `${((index + 0.5) / count) * 100}%` }
}

type ReadingProps = Pick<UsageChartProps, 'formatValue' | 'formatMoment'> & {
  readonly bucket: Bucket | undefined
  readonly series: readonly string[]
}

function Reading({ bucket, series, formatValue, formatMoment }: ReadingProps) {
  const { t } = useTranslation()
  if (!bucket)
    return (
      <p className={styles['reading']}>
        <span className="muted">{t('usage.walk')}</span>
      </p>
    )
  const parts = bucket.values.flatMap((value, index) =>
    value === 0 || !isNamed(series) ? [] : [`${series[index]} ${formatValue(value)}`],
  )
  return (
    <p className={styles['reading']} role="status">
      <strong>
        {formatMoment(bucket.at)}: {bucket.isKnown ? formatValue(totalOf(bucket)) : t('noData')}
      </strong>
      {parts.length > 0 && ` (${parts.join(', ')})`}
    </p>
  )
}

function totalOf({ values }: Bucket): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function nextIndex(key: string, from: number | undefined, length: number): number | undefined {
  if (length === 0) return undefined
  switch (key) {
    case 'ArrowRight':
      return Math.min((from ?? -1) + 1, length - 1)
    case 'ArrowLeft':
      return Math.max((from ?? length) - 1, 0)
    case 'Home':
      return 0
    case 'End':
      return length - 1
    default:
      return undefined
  }
}

function colourOf(series: number): string {
  return `var(--tg-series-${series + 1})`
}
