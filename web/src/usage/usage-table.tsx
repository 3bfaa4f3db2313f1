// The numbers of a chart as a table: one row per model, key or day, and their totals.
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Translate } from '../i18n/texts.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { DataTable } from '../parts/data-table.tsx'
import type { Column, Sort } from '../parts/data-table.tsx'
import { useMoneyColumn } from '../parts/money-column.tsx'
import { useFormat } from '../i18n/use-format.ts'
import { Change } from './change.tsx'
import { METRICS } from './usage-search.ts'
import type { Totals } from './usage-figures.ts'
import type { Metric } from './usage-search.ts'
import styles from './figures.module.css'

type UsageTableProps = {
  readonly caption: string
  /** What the rows are: models, keys or days. */
  readonly nameHeader: string
  readonly rows: readonly Totals[]
  readonly total: Pick<Totals, Metric>
  readonly nameOf: (group: string) => string
  /** How the name is shown, if it is more than text. */
  readonly nameCell?: (group: string) => ReactNode
  /** The rows are days or hours, in chronological order until the reader sorts them. */
  readonly isTime?: boolean
  /** The same figures for the span before. */
  readonly previous?: { readonly rows: readonly Totals[]; readonly total: Pick<Totals, Metric> }
}

type SortKey = 'name' | Metric

export function UsageTable(props: UsageTableProps) {
  const { caption, nameHeader, rows, total, nameOf, nameCell = nameOf } = props
  const { isTime = false, previous } = props
  const { t } = useTranslation()
  const format = useFormat()
  const [sort, setSort] = useState<Sort<SortKey>>(
    isTime ? { by: 'name', order: 'asc' } : { by: 'cost', order: 'desc' },
  )
  const money = useMoneyColumn([...rows, total].map(({ cost }) => cost))
  const moneyBefore = useMoneyColumn(
    previous && [...previous.rows, previous.total].map(({ cost }) => cost),
  )
  const shown = (metric: Metric, row: Pick<Totals, Metric>): ReactNode =>
    metric === 'cost' ? money(row.cost) : format.number(row[metric])
  const columns: Column<Totals, SortKey>[] = [
    {
      id: 'name',
      header: nameHeader,
      sort: 'name',
      isRowHeader: true,
      card: 'title',
      cell: ({ group }) => <div className={styles['name']}>{nameCell(group)}</div>,
    },
    ...METRICS.map((metric): Column<Totals, SortKey> => ({
      id: metric,
      header: t(`metric.${metric}`),
      sort: metric,
      firstOrder: 'desc',
      align: 'end',
      cell: (row) => shown(metric, row),
    })),
  ]
  if (previous) columns.splice(2, 0, ...comparison({ t, previous, moneyBefore }))
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={sorted(rows, sort, isTime ? undefined : nameOf)}
      rowKey={({ group }) => group}
      sort={sort}
      onSort={setSort}
      total={(column) => {
        if (column === 'name') return t('usage.total')
        if (column === 'before') return moneyBefore(previous?.total.cost)
        if (column === 'change')
          return (
            previous && <Change before={Number(previous.total.cost)} now={Number(total.cost)} />
          )
        return shown(column as Metric, total)
      }}
    />
  )
}

type ComparisonOptions = {
  readonly t: Translate
  readonly previous: NonNullable<UsageTableProps['previous']>
  readonly moneyBefore: ReturnType<typeof useMoneyColumn>
}

/** The cost in the span before, and the change since then. */
function comparison({ t, previous, moneyBefore }: ComparisonOptions): readonly Column<Totals>[] {
  const costs = new Map(previous.rows.map(({ group, cost }) => [group, cost]))
  const costBefore = (group: string): string => costs.get(group) ?? '0'
  return [
    {
      id: 'before',
      header: t('usage.before'),
      align: 'end',
      cell: ({ group }) => moneyBefore(costBefore(group)),
    },
    {
      id: 'change',
      header: t('usage.change'),
      align: 'end',
      cell: ({ group, cost }) => <Change before={Number(costBefore(group))} now={Number(cost)} />,
    },
  ]
}

/** Sorting by name orders times chronologically, whatever their labels. */
function sorted(
  rows: readonly Totals[],
  { by, order }: Sort<SortKey>,
  nameOf: (group: string) => string = (group) => group,
): readonly Totals[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) =>
    by === 'name'
      ? sign * nameOf(one.group).localeCompare(nameOf(other.group))
      : sign * (Number(one[by]) - Number(other[by])),
  )
}
