// What the key used: a course over time by model, the same numbers as a table, and all of it as a file.
import { Button, NativeSelect, Stack } from '@mantine/core'
import { useQuery, keepPreviousData } from '@tanstack/react-query'
import { useMemo } from 'react'
import { usageRoutes } from '../../../../../src/admin/contract/usage.ts'
import type { UsageAnswer } from '../../../../../src/admin/contract/usage.ts'
import { addressOf, call } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { ChartIcon, DownloadIcon } from '../../../parts/icons.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { UsageChart } from '../../../usage/usage-chart.tsx'
import { courseOf, groupOf, METRICS, totalsBy } from '../../../usage/usage-figures.ts'
import type { Metric, Span } from '../../../usage/usage-figures.ts'
import { UsageTable } from '../../../usage/usage-table.tsx'
import { RANGES } from './detail-search.ts'
import type { TabProps } from './detail.tsx'
import styles from './detail.module.css'
import { spanOf } from './span.ts'

const minuteMs = 60_000

export function UsageTab({ detail, search, onChange }: TabProps) {
  const { t } = useTranslation()
  const range = search.range ?? '30d'
  const metric = search.metric ?? 'cost'
  // To the minute, so that the same question is asked under the same name.
  const now = Math.ceil(Date.now() / minuteMs) * minuteMs
  const span = useMemo(() => spanOf(range, detail.period_starts_at, now), [range, detail, now])
  const usage = useQuery({
    queryKey: ['keys', 'usage', detail.id, span],
    queryFn: ({ signal }) =>
      call(usageRoutes.readKeyUsage, {
        params: { id: detail.id },
        query: { since: span.since, until: span.until, by: `${span.step},model`, limit: 10_000 },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const csv = addressOf(usageRoutes.exportUsage, {
    query: { key: detail.id, since: span.since, until: span.until, by: 'day,model' },
  })
  return (
    <>
      <div className={styles['toolbar']}>
        <NativeSelect
          label={t('usage.range')}
          value={range}
          onChange={({ currentTarget }) =>
            onChange({ range: RANGES.find((each) => each === currentTarget.value) })
          }
          data={RANGES.map((value) => ({ value, label: t(`usage.ranges.${value}`) }))}
        />
        <NativeSelect
          label={t('usage.metric')}
          value={metric}
          onChange={({ currentTarget }) =>
            onChange({ metric: METRICS.find((each) => each === currentTarget.value) })
          }
          data={METRICS.map((value) => ({ value, label: t(`metric.${value}`) }))}
        />
        <Button
          component="a"
          href={csv}
          download="usage.csv"
          variant="default"
          leftSection={<DownloadIcon />}
        >
          {t('overview.export')}
        </Button>
      </div>
      {usage.error && (
        <ErrorAlert
          title={t('usage.failed')}
          error={usage.error}
          onRetry={() => void usage.refetch()}
        />
      )}
      {usage.isPending && <Loading lines={1} height={260} />}
      {usage.data && <Usage usage={usage.data} span={span} metric={metric} />}
    </>
  )
}

type UsageProps = {
  readonly usage: UsageAnswer
  readonly span: Span
  readonly metric: Metric
}

function Usage({ usage, span, metric }: UsageProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const course = useMemo(
    () => courseOf(usage.rows, span, { metric, rest: t('usage.others') }),
    [usage, span, metric, t],
  )
  if (usage.rows.length === 0)
    return (
      <div className="card">
        <EmptyState icon={<ChartIcon size={22} />} title={t('usage.none')}>
          {t('usage.noneAbout')}
        </EmptyState>
      </div>
    )
  const total =
    metric === 'cost' ? format.money(usage.total.cost) : format.number(usage.total[metric])
  const dayOrHour = (at: string) => (span.step === 'day' ? format.day(at) : format.dateTime(at))
  return (
    <Stack gap="lg">
      <div className="card">
        <p className={styles['total']}>
          {total} <small>{t(`metric.${metric}`)}</small>
        </p>
        <UsageChart
          course={course}
          summary={t('usage.summary', { metric: t(`metric.${metric}`), total })}
          isWhole={metric !== 'cost'}
          formatValue={(value) =>
            metric === 'cost' ? format.money(value.toFixed(9)) : format.compact(value)
          }
          formatMoment={dayOrHour}
        />
      </div>
      <UsageTable
        caption={t('usage.byModel')}
        nameHeader={t('usage.model')}
        rows={totalsBy(usage.rows, groupOf)}
        total={usage.total}
      />
      <UsageTable
        caption={t('usage.byTime')}
        nameHeader={t('usage.time')}
        rows={totalsBy(usage.rows, (row) => row.day ?? row.hour ?? '')}
        total={usage.total}
        formatName={dayOrHour}
      />
    </Stack>
  )
}
