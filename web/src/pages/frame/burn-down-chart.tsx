// What is left of the frame over its period: a line down from the limit to now, and on at the pace so far. What it says is
// in words above it, on the card of the frame.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import { DAY_MS, HOUR_MS } from '../../../../src/core/units.ts'
import { spanOf } from '../../base/address.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ChartFrame } from '../usage/chart-frame.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { marksOf } from '../usage/figures.ts'
import { usageQuery } from '../usage/tables.tsx'
import { forecastEnd, leftSoFar, type Point } from './burn-down.ts'
import styles from './burn-down.module.css'

const minuteMs = 60_000
const heightPx = 240

export function BurnDown({ frame }: { readonly frame: FrameAnswer }) {
  const { t } = useTranslation()
  const minute = Math.ceil(useNow() / minuteMs) * minuteMs
  const { period_starts_at: start } = frame
  const span = useMemo(() => spanOf({ range: 'period' }, minute, start), [minute, start])
  const usage = useQuery(usageQuery({ span, filters: {}, by: span.step }))
  const rows = usage.data?.rows
  const stepMs = span.step === 'day' ? DAY_MS : HOUR_MS
  const points = useMemo(() => {
    const steps = (rows ?? []).map((row) => ({
      at: Date.parse(row.day ?? row.hour ?? ''),
      cost: row.cost,
    }))
    const from = { ...frame, period_starts_at: span.since }
    return leftSoFar(from, steps, { now: minute, stepMs })
  }, [rows, frame, span.since, minute, stepMs])
  // Before the first charge of a period there is nothing to draw.
  if (start === null) return null
  return (
    <section className="card">
      <h2 className={styles['heading']}>{t('burnDown.title')}</h2>
      <QueryError title={t('usage.failed')} query={usage} />
      {usage.isPending && <Loading lines={1} height={heightPx} />}
      {rows && <Chart frame={frame} points={points} />}
    </section>
  )
}

type ChartProps = { readonly frame: FrameAnswer; readonly points: readonly Point[] }

function Chart({ frame, points }: ChartProps) {
  const { t, format } = useTranslation()
  const { timezone, resets_at: reset } = frame
  const [first, now] = [points[0], points.at(-1)]
  if (first === undefined || now === undefined) return null
  const end = forecastEnd(frame)
  const until = Math.max(reset === null ? now.at : Date.parse(reset), now.at, first.at + 1)
  const limit = Number(frame.limit)
  const marks = marksOf(limit, false)
  const most = marks.at(-1) ?? 1
  const place = ({ at, left }: Point): string =>
    `${((at - first.at) / (until - first.at)) * 100},${(1 - left / most) * 100}`
  const limitY = (1 - limit / most) * 100
  const day = (at: number): string => format.dateIn(new Date(at).toISOString(), timezone)
  const summary = t('burnDown.summary', {
    left: format.moneyLeft(frame.remaining),
    limit: format.money(frame.limit),
    date: day(now.at),
  })
  return (
    <ChartFrame
      scale={format.moneyRow(marks.map((mark) => mark.toFixed(12)))}
      plot={
        <div className={styles['plot']} role="img" aria-label={`${summary} ${ahead()}`}>
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            aria-hidden="true"
            focusable="false"
          >
            {marks.map((mark) => {
              const y = (1 - mark / most) * 100
              return <line key={mark} className={styles['grid']} x2={100} y1={y} y2={y} />
            })}
            <line className={styles['limit']} x2={100} y1={limitY} y2={limitY} />
            <polyline className={styles['left']} points={points.map(place).join(' ')} />
            {end && <polyline className={styles['ahead']} points={`${place(now)} ${place(end)}`} />}
          </svg>
        </div>
      }
      axis={
        <div className={styles['axis']} aria-hidden="true">
          <span>{day(first.at)}</span>
          <span>{day(until)}</span>
        </div>
      }
    >
      <ul className={styles['legend']} aria-hidden="true">
        <li data-line="left">{t('burnDown.left')}</li>
        {end && <li data-line="ahead">{t('burnDown.ahead')}</li>}
        <li data-line="limit">{t('burnDown.limit', { limit: format.money(frame.limit) })}</li>
      </ul>
    </ChartFrame>
  )

  function ahead(): string {
    if (end === undefined) return ''
    if (end.left === 0) return t('budget.exhaustedAbout', { date: day(end.at) })
    return t('burnDown.atEnd', { left: format.money(String(end.left)), date: day(end.at) })
  }
}
