// The figures of a span: the sums at a glance, the course as a chart, and the same numbers as tables.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { UsageAnswer } from '../../../../src/admin/contract/usage.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useSession } from '../../session.ts'
import { UsageChart } from '../../usage/usage-chart.tsx'
import { courseOf, groupOf, totalsBy } from '../../usage/usage-figures.ts'
import type { Metric, Span } from '../../usage/usage-figures.ts'
import { UsageTable } from '../../usage/usage-table.tsx'
import { usageQuery } from './usage-query.ts'
import type { Group } from './usage-search.ts'
import styles from './figures.module.css'

type FiguresProps = {
  readonly course: UsageAnswer
  readonly span: Span
  readonly metric: Metric
  readonly group: Group
}

export function Figures({ course, span, metric, group }: FiguresProps) {
  return (
    <Stack gap="xl">
      <Sums total={course.total} />
      <Chart course={course} span={span} metric={metric} group={group} />
      <GroupTable span={span} group={group} />
      <TimeTable span={span} />
    </Stack>
  )
}

function Sums({ total }: Pick<UsageAnswer, 'total'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const share = total.requests === 0 ? 0 : total.errors / total.requests
  const sums: readonly (readonly [string, string, string?])[] = [
    [t('metric.cost'), format.money(total.cost)],
    [t('metric.requests'), format.number(total.requests)],
    [t('metric.errors'), format.number(total.errors), format.percent(share)],
    [t('metric.input_tokens'), format.compact(total.input_tokens)],
    [t('metric.output_tokens'), format.compact(total.output_tokens)],
  ]
  return (
    <dl className={styles['sums']}>
      {sums.map(([name, value, beside]) => (
        <div key={name} className="card">
          <dt>{name}</dt>
          <dd>
            {value} {beside && <small>{beside}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Chart({ course, span, metric, group }: FiguresProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const drawn = useMemo(
    () => courseOf(course.rows, span, { metric, rest: t('usage.others') }),
    [course, span, metric, t],
  )
  const { total } = course
  const sum = metric === 'cost' ? format.money(total.cost) : format.number(total[metric])
  return (
    <section className="card" aria-labelledby="usage-course">
      <h2 id="usage-course" className={styles['heading']}>
        {t(`usagePage.course.${group}`, { metric: t(`metric.${metric}`) })}
      </h2>
      <UsageChart
        course={drawn}
        summary={t('usage.summary', { metric: t(`metric.${metric}`), total: sum })}
        isWhole={metric !== 'cost'}
        formatValue={(value) =>
          metric === 'cost' ? format.money(value.toFixed(9)) : format.compact(value)
        }
        formatMoment={(at) => (span.step === 'day' ? format.day(at) : format.dateTime(at))}
      />
    </section>
  )
}

function GroupTable({ span, group }: Pick<FiguresProps, 'span' | 'group'>) {
  const { t } = useTranslation()
  const { may } = useSession()
  const usage = useQuery(usageQuery(span, group))
  const ids = useMemo(
    () => new Map(usage.data?.rows.map((row) => [groupOf(row), row.key])),
    [usage.data],
  )
  const name = (shown: string) => {
    const id = ids.get(shown)
    if (group !== 'key' || !id || !may('configuration:read')) return shown
    return (
      <Link to="/settings/api-access/$id" params={{ id }}>
        {shown}
      </Link>
    )
  }
  return (
    <section>
      <h2 className={styles['heading']}>{t(`usagePage.table.${group}`)}</h2>
      {usage.error && <ErrorAlert title={t('usage.failed')} error={usage.error} />}
      {usage.isPending && <Loading lines={4} height={40} />}
      {usage.data && (
        <UsageTable
          caption={t(`usagePage.table.${group}`)}
          nameHeader={t(`usagePage.group.${group}`)}
          rows={totalsBy(usage.data.rows, groupOf)}
          total={usage.data.total}
          formatName={name}
        />
      )}
      {usage.data && usage.data.left_out > 0 && (
        <Notice tone="info">{t('usagePage.leftOut', { count: usage.data.left_out })}</Notice>
      )}
    </section>
  )
}

function TimeTable({ span }: Pick<FiguresProps, 'span'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const usage = useQuery(usageQuery(span, span.step))
  return (
    <section>
      <h2 className={styles['heading']}>{t('usage.byTime')}</h2>
      {usage.error && <ErrorAlert title={t('usage.failed')} error={usage.error} />}
      {usage.isPending && <Loading lines={4} height={40} />}
      {usage.data && (
        <UsageTable
          caption={t('usage.byTime')}
          nameHeader={t('usage.time')}
          rows={totalsBy(usage.data.rows, (row) => row.day ?? row.hour ?? '')}
          total={usage.data.total}
          formatName={(at) => (span.step === 'day' ? format.day(at) : format.dateTime(at))}
        />
      )}
    </section>
  )
}
