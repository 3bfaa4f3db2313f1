// The keys as a table. Sorting, page and columns come from the address; the rows come from the gateway.
import { Checkbox } from '@mantine/core'
import type { FrameAnswer } from '../../../../src/admin/contract/frame.ts'
import type { KeyRow } from '../../../../src/admin/contract/key.ts'
import type { KeyQuery } from '../../../../src/admin/contract/keys.ts'
import type { Translate } from '../../i18n/texts.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column } from '../../parts/data-table.tsx'
import type { KeyAction } from './key-in-brief.ts'
import {
  BudgetCell,
  CostCell,
  FrameCell,
  LimitsCell,
  ModelsCell,
  MomentCell,
  NameCell,
} from './key-cells.tsx'
import { KeyMenu } from './key-menu.tsx'
import { KeyStatus } from './key-status.tsx'
import type { OptionalColumn } from './overview-search.ts'
import type { Selection } from './selection.ts'

type SortKey = KeyQuery['sort']
type KeyColumn = Column<KeyRow, SortKey>

type KeyTableProps = {
  readonly rows: readonly KeyRow[] | undefined
  readonly frame: FrameAnswer | undefined
  readonly query: KeyQuery
  readonly shown: readonly OptionalColumn[]
  readonly isDense: boolean
  readonly isFetching: boolean
  /** Undefined for read-only roles. */
  readonly selection: Selection | undefined
  readonly onSort: (sort: SortKey, order: KeyQuery['order']) => void
  readonly onAction: (action: KeyAction, row: KeyRow) => void
}

export function KeyTable(props: KeyTableProps) {
  const { rows, query, isFetching, isDense, selection, onSort, onAction } = props
  const { t } = useTranslation()
  const columns = [
    ...(selection ? [selectColumn(t, selection, rows ?? [])] : []),
    ...dataColumns(t, props),
    menuColumn(t, onAction),
  ]
  return (
    <DataTable
      caption={t('overview.caption')}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      sort={{ by: query.sort, order: query.order }}
      onSort={({ by, order }) => onSort(by, order)}
      isSelected={selection && ((row) => selection.has(row.id))}
      isFetching={isFetching}
      isDense={isDense}
      expectedRows={8}
      expectedLines={3}
    />
  )
}

function selectColumn(t: Translate, selection: Selection, rows: readonly KeyRow[]): KeyColumn {
  const chosen = rows.filter((row) => selection.has(row.id)).length
  return {
    id: 'select',
    header: t('overview.select'),
    headerCell: (
      <Checkbox
        aria-label={t('overview.selectAll')}
        checked={rows.length > 0 && chosen === rows.length}
        indeterminate={chosen > 0 && chosen < rows.length}
        onChange={({ currentTarget }) => selection.setMany(rows, currentTarget.checked)}
      />
    ),
    card: 'hidden',
    cell: (row) => (
      <Checkbox
        aria-label={t('overview.selectKey', { name: row.name })}
        checked={selection.has(row.id)}
        onChange={({ currentTarget }) => selection.setMany([row], currentTarget.checked)}
      />
    ),
  }
}

function menuColumn(t: Translate, onAction: (action: KeyAction, row: KeyRow) => void): KeyColumn {
  return {
    id: 'menu',
    header: t('overview.actions'),
    hideHeader: true,
    card: 'corner',
    cell: (row) => <KeyMenu keyInBrief={row} onAction={(action) => onAction(action, row)} />,
  }
}

function dataColumns(t: Translate, { frame, shown }: KeyTableProps): readonly KeyColumn[] {
  const name: KeyColumn = {
    id: 'name',
    header: t('column.name'),
    sort: 'name',
    isRowHeader: true,
    card: 'title',
    cell: (row) => <NameCell row={row} />,
  }
  const status: KeyColumn = {
    id: 'status',
    header: t('column.status'),
    sort: 'state',
    card: 'plain',
    cell: (row) => <KeyStatus keyInBrief={row} />,
  }
  const optional = optionalColumns(t, frame)
  return [name, status, ...shown.map((column) => optional[column])]
}

function optionalColumns(
  t: Translate,
  frame: FrameAnswer | undefined,
): Readonly<Record<OptionalColumn, KeyColumn>> {
  const column = (id: OptionalColumn, more: Omit<KeyColumn, 'id' | 'header'>): KeyColumn => ({
    id,
    header: t(`column.${id}`),
    firstOrder: 'desc',
    ...more,
  })
  return {
    budget: column('budget', { sort: 'percent', cell: (row) => <BudgetCell row={row} /> }),
    frame: column('frame', {
      sort: 'share',
      cell: (row) => frame && <FrameCell row={row} frame={frame} />,
    }),
    models: column('models', { sort: 'models', cell: (row) => <ModelsCell row={row} /> }),
    limits: column('limits', { cell: (row) => <LimitsCell row={row} /> }),
    cost: column('cost', { sort: 'cost_7d', cell: (row) => <CostCell row={row} /> }),
    last_used: column('last_used', {
      sort: 'last_used_at',
      cell: (row) => <MomentCell at={row.last_used_at} />,
    }),
    expires: column('expires', {
      sort: 'expires_at',
      cell: (row) => <MomentCell at={row.expires_at} />,
    }),
    owner: column('owner', {
      sort: 'owner',
      firstOrder: 'asc',
      cell: (row) => <span className="break">{row.owner ?? '–'}</span>,
    }),
  }
}
