// The numbers of a chart as a table: one row per model, key or day, and their totals.
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { DataTable } from '../parts/data-table.tsx'
import type { Column, Sort } from '../parts/data-table.tsx'
import { useFormat } from '../i18n/use-format.ts'
import { METRICS } from './usage-figures.ts'
import type { Metric, Totals } from './usage-figures.ts'

type UsageTableProps = {
  readonly caption: string
  /** What a row is: a model, a key, a day. */
  readonly nameHeader: string
  readonly rows: readonly Totals[]
  readonly total: Pick<Totals, Metric>
  readonly formatName?: (name: string) => ReactNode
}

type SortKey = 'name' | Metric

export function UsageTable({ caption, nameHeader, rows, total, formatName }: UsageTableProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [sort, setSort] = useState<Sort<SortKey>>({ by: 'cost', order: 'desc' })
  const shown = (metric: Metric, row: Pick<Totals, Metric>): string =>
    metric === 'cost' ? format.money(row.cost) : format.number(row[metric])
  const columns: readonly Column<Totals, SortKey>[] = [
    {
      id: 'name',
      header: nameHeader,
      sort: 'name',
      isRowHeader: true,
      card: 'title',
      cell: ({ name }) => <span className="break">{formatName ? formatName(name) : name}</span>,
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
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={sorted(rows, sort)}
      rowKey={({ name }) => name}
      sort={sort}
      onSort={setSort}
      total={(column) => (column === 'name' ? t('usage.total') : shown(column as Metric, total))}
    />
  )
}

function sorted(rows: readonly Totals[], { by, order }: Sort<SortKey>): readonly Totals[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) =>
    by === 'name'
      ? sign * one.name.localeCompare(other.name)
      : sign * (Number(one[by]) - Number(other[by])),
  )
}
