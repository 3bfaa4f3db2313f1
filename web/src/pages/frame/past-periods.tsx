// The closed periods of a budget: what was spent in each, of which limit.
import type { PastPeriods } from '../../../../src/admin/contract/values.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useMoneyColumn } from '../../parts/cells.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Meter, shareOf } from '../../parts/meters.tsx'
import styles from './past-periods.module.css'

type PastPeriodTableProps = {
  readonly periods: PastPeriods
  readonly timezone: string
}

type Row = PastPeriods[number] & { readonly id: string }

/** Nothing before the first period is over. */
export function PastPeriodTable({ periods, timezone }: PastPeriodTableProps) {
  const { t, format } = useTranslation()
  const spent = useMoneyColumn(periods.map((period) => period.spent))
  const limit = useMoneyColumn(periods.map((period) => period.limit))
  if (periods.length === 0) return null
  const columns: readonly Column<Row>[] = [
    {
      header: t('pastPeriods.period'),
      isRowHeader: true,
      cell: ({ starts_at: start, ends_at: end }) =>
        `${format.dateIn(start, timezone)} – ${format.dateIn(end, timezone)}`,
    },
    { header: t('pastPeriods.spent'), align: 'end', cell: (row) => spent(row.spent) },
    {
      header: t('pastPeriods.limit'),
      align: 'end',
      cell: (row) => (row.limit === null ? t('budget.noOwnLimit') : limit(row.limit)),
    },
    { header: t('pastPeriods.share'), cell: (row) => <Share period={row} /> },
  ]
  return (
    <section>
      <h2 className={styles['heading']}>{t('pastPeriods.title')}</h2>
      <DataTable
        caption={t('pastPeriods.title')}
        columns={columns}
        rows={periods.map((period) => ({ ...period, id: period.starts_at }))}
      />
    </section>
  )
}

function Share({ period: { limit, spent, ends_at: end } }: { readonly period: Row }) {
  const { t, format } = useTranslation()
  if (limit === null) return '–'
  const share = shareOf(spent, limit)
  const percent = format.percent(share)
  return (
    <div className={styles['share']}>
      <span>{percent}</span>
      <Meter
        label={t('pastPeriods.shareUntil', { date: format.dateTime(end) })}
        valueText={percent}
        max={1}
        segments={[{ kind: 'spent', value: Math.min(share, 1) }]}
        tone="calm"
        height={6}
      />
    </div>
  )
}
