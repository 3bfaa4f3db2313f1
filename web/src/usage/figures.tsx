// The figures of a time span: the sums, a chart over time, and the same numbers as tables.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { UsageAnswer } from '../../../src/admin/contract/usage.ts'
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { ErrorAlert } from '../parts/error-alert.tsx'
import { Loading } from '../parts/loading.tsx'
import { Notice } from '../parts/notice.tsx'
import { useSession } from '../session.ts'
import { Sums } from './sums.tsx'
import { UsageChart } from './usage-chart.tsx'
import { courseOf, groupOf, keyNamesOf, totalsBy } from './usage-figures.ts'
import type { Metric } from './usage-search.ts'
import { usageQuery } from './usage-query.ts'
import type { UsageAsked } from './usage-query.ts'
import type { Group } from './usage-search.ts'
import { UsageTable } from './usage-table.tsx'
import styles from './figures.module.css'

type FiguresProps = {
  readonly course: UsageAnswer
  readonly asked: Omit<UsageAsked, 'by'>
  readonly metric: Metric
  readonly group: Group
}

export function Figures({ course, asked, metric, group }: FiguresProps) {
  return (
    <Stack gap="xl">
      <Sums total={course.total} previous={course.previous} />
      <Chart course={course} asked={asked} metric={metric} group={group} />
      {group !== 'day' && <GroupTable asked={asked} group={group} />}
      <TimeTable asked={asked} />
    </Stack>
  )
}

function Chart({ course, asked: { span }, metric, group }: FiguresProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const nameOf = useGroupName(group, course.rows)
  const drawn = useMemo(
    () => courseOf(course.rows, span, { metric, rest: t('usage.others') }),
    [course, span, metric, t],
  )
  const { total } = course
  const sum = metric === 'cost' ? format.money(total.cost) : format.number(total[metric])
  const figure = t(`metric.${metric}`)
  return (
    <section className="card" aria-labelledby="usage-course">
      <h2 id="usage-course" className={styles['heading']}>
        {t(`usage.course.${group}`, { metric: figure })}
      </h2>
      <UsageChart
        course={{ ...drawn, series: drawn.series.map(nameOf) }}
        summary={t('usage.summary', { metric: figure, total: sum })}
        isWhole={metric !== 'cost'}
        formatValue={(value) =>
          metric === 'cost' ? format.money(value.toFixed(9)) : format.compact(value)
        }
        formatMarks={(marks) =>
          metric === 'cost'
            ? format.moneyRow(marks.map((mark) => mark.toFixed(12)))
            : marks.map(format.compact)
        }
        formatMoment={(at) => (span.step === 'day' ? format.day(at) : format.hour(at))}
      />
    </section>
  )
}

type GroupTableProps = Pick<FiguresProps, 'asked'> & { readonly group: Exclude<Group, 'day'> }

function GroupTable({ asked, group }: GroupTableProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const usage = useQuery(usageQuery({ ...asked, by: group }))
  const nameOf = useGroupName(group, usage.data?.rows)
  const link = (id: string) => (
    <Link to="/settings/api-access/$id" params={{ id }}>
      {nameOf(id)}
    </Link>
  )
  return (
    <section>
      <h2 className={styles['heading']}>{t(`usage.table.${group}`)}</h2>
      {usage.error && <ErrorAlert title={t('usage.failed')} error={usage.error} />}
      {usage.isPending && <Loading lines={4} height={40} />}
      {usage.data && (
        <UsageTable
          caption={t(`usage.table.${group}`)}
          nameHeader={t(`usage.group.${group}`)}
          rows={totalsBy(usage.data.rows, groupOf)}
          total={usage.data.total}
          nameOf={nameOf}
          {...(group === 'key' && may('configuration:read') && { nameCell: link })}
          {...(usage.data.previous && {
            previous: {
              rows: totalsBy(usage.data.previous.rows, groupOf),
              total: usage.data.previous.total,
            },
          })}
        />
      )}
      {usage.data && usage.data.left_out > 0 && (
        <Notice tone="info">{t('usage.leftOut', { count: usage.data.left_out })}</Notice>
      )}
    </section>
  )
}

function TimeTable({ asked }: Pick<FiguresProps, 'asked'>) {
  const { t } = useTranslation()
  const format = useFormat()
  const { span, keyId } = asked
  const usage = useQuery(usageQuery({ span, keyId, by: span.step }))
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
          nameOf={(at) => (span.step === 'day' ? format.day(at) : format.hour(at))}
          isTime
        />
      )}
    </section>
  )
}

/** Keys and endpoints have display names; some requests reached no provider, and listing calls have no model. */
function useGroupName(group: Group, rows: UsageAnswer['rows'] = []): (name: string) => string {
  const { t, find } = useTranslation()
  const keyNames = useMemo(() => keyNamesOf(rows), [rows])
  return (name) => {
    if (group === 'key') return keyNames.get(name) ?? name
    if (group === 'endpoint') return find(`endpoint.${name}`) ?? name
    if (name !== '') return name
    if (group === 'provider') return t('usage.noProvider')
    return group === 'model' ? t('usage.noModel') : name
  }
}
