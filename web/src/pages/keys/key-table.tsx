// The keys as a table. Sorting, page and columns come from the address; the rows come from the gateway.
import { Checkbox, Popover } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeyQuery, KeyRow } from '../../../../src/admin/contract/keys.ts'
import { ENDPOINTS } from '../../../../src/core/endpoints.ts'
import type { OptionalColumn } from '../../base/address.ts'
import { keyQuery } from '../../base/queries.ts'
import { type Translate, useTranslation } from '../../i18n/i18n.ts'
import { Moment } from '../../parts/cells.tsx'
import { actionColumn, DataTable, type Column } from '../../parts/data-table.tsx'
import { WarningIcon } from '../../parts/icons.tsx'
import { BudgetCell, Sparkline } from '../../parts/meters.tsx'
import type { Selection } from './bulk-bar.tsx'
import { type KeyAction, KeyMenu, KeyStatus } from './key-brief.tsx'
import styles from './key-table.module.css'
import { useKeyFacts, useRateWords } from './key-words.ts'

type SortKey = KeyQuery['sort']
type KeyColumn = Column<KeyRow, SortKey>

type KeyTableProps = {
  readonly rows: readonly KeyRow[] | undefined
  readonly query: KeyQuery
  readonly shown: readonly OptionalColumn[]
  readonly isDense: boolean
  /** One of several: see DataTable. */
  readonly isAligned?: boolean
  readonly isFetching: boolean
  /** Undefined for read-only roles. */
  readonly selection: Selection | undefined
  readonly onSort: (sort: SortKey, order: KeyQuery['order']) => void
  readonly onAction: (action: KeyAction, row: KeyRow) => void
}

export function KeyTable(props: KeyTableProps) {
  const { rows, query, shown, selection, onSort, onAction } = props
  const { isFetching, isDense, isAligned = false } = props
  const { t } = useTranslation()
  const optional = optionalColumns(t)
  const columns: readonly KeyColumn[] = [
    ...(selection ? [selectColumn(t, selection, rows ?? [])] : []),
    {
      header: t('column.name'),
      sort: 'name',
      isRowHeader: true,
      cell: (row) => <NameCell row={row} />,
    },
    {
      header: t('column.status'),
      sort: 'state',
      width: '8.5rem',
      card: 'plain',
      cell: (row) => <KeyStatus keyInBrief={row} />,
    },
    ...shown.map((column) => optional[column]),
    {
      ...actionColumn<KeyRow>(t, (row) => (
        <KeyMenu keyInBrief={row} onAction={(action) => onAction(action, row)} />
      )),
      width: '3.25rem',
    },
  ]
  return (
    <DataTable
      caption={t('overview.caption')}
      columns={columns}
      rows={rows}
      sort={{ by: query.sort, order: query.order }}
      onSort={({ by, order }) => onSort(by, order)}
      isSelected={selection && ((row) => selection.has(row.id))}
      isFetching={isFetching}
      isDense={isDense}
      isAligned={isAligned}
      expectedRows={isDense ? 13 : 8}
      expectedLines={isDense ? 1 : 3}
    />
  )
}

function selectColumn(t: Translate, selection: Selection, rows: readonly KeyRow[]): KeyColumn {
  const chosen = rows.filter((row) => selection.has(row.id)).length
  return {
    header: t('overview.select'),
    width: '2.75rem',
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

function optionalColumns(t: Translate): Readonly<Record<OptionalColumn, KeyColumn>> {
  const column = (id: OptionalColumn, more: Omit<KeyColumn, 'id' | 'header'>): KeyColumn => ({
    header: t(`column.${id}`),
    firstOrder: 'desc',
    ...more,
  })
  return {
    group: column('group', {
      width: '9rem',
      cell: ({ group }) =>
        group ? (
          <Link className={styles['label']} to="/settings/groups/$id" params={{ id: group.id }}>
            {group.name}
          </Link>
        ) : (
          '–'
        ),
    }),
    budget: column('budget', {
      sort: 'percent',
      width: '19.5rem',
      cell: (row) => <BudgetCell name={row.name} budget={row} />,
    }),
    frame: column('frame', {
      sort: 'share',
      width: '7.5rem',
      cell: (row) => row.frame_share !== null && <FrameCell row={row} />,
    }),
    models: column('models', {
      sort: 'models',
      width: '5.5rem',
      cell: (row) => <ModelsCell row={row} />,
    }),
    limits: column('limits', { width: '10rem', cell: (row) => <LimitsCell row={row} /> }),
    cost: column('cost', {
      sort: 'cost_7d',
      width: '9.25rem',
      cell: (row) => <CostCell row={row} />,
    }),
    last_used: column('last_used', {
      sort: 'last_used_at',
      width: '7.5rem',
      cell: (row) => <MomentCell at={row.last_used_at} />,
    }),
    expires: column('expires', {
      sort: 'expires_at',
      width: '7.5rem',
      cell: (row) => <MomentCell at={row.expires_at} />,
    }),
    owner: column('owner', {
      sort: 'owner',
      width: '9rem',
      firstOrder: 'asc',
      cell: (row) => <span className={styles['label']}>{row.owner ?? '–'}</span>,
    }),
  }
}

type CellProps = { readonly row: KeyRow }

/** The cells of a key's row. Each states its numbers in words; a bar or a colour only repeats them. */
function NameCell({ row }: CellProps) {
  const { t } = useTranslation()
  const facts = useKeyFacts()({ ...row, environment: null })
  return (
    <div className={styles['title']}>
      <Link
        to="/settings/api-access/$id"
        params={{ id: row.id }}
        className={styles['name']}
        title={row.name}
      >
        {row.name}
      </Link>
      {row.environment !== null && (
        <Link
          to="/settings/api-access"
          search={{ environment: row.environment }}
          className={styles['environment']}
          title={t('overview.onlyEnvironment', { environment: row.environment })}
        >
          {row.environment}
        </Link>
      )}
      <code className={styles['sub']}>{row.masked}</code>
      <span className={`${styles['sub']} ${styles['facts']}`} title={facts}>
        {facts}
      </span>
    </div>
  )
}

/** What it has spent of the frame. Without a limit of its own, nothing but the frame limits it: its budget says so. */
function FrameCell({ row }: CellProps) {
  const { t, format } = useTranslation()
  return (
    <span className={styles['frame']}>
      {format.percent(row.frame_share ?? 0)}
      {row.frame_binds && row.limit !== null && (
        <span className={styles['warn']} title={t('budget.frameBinds')}>
          <WarningIcon size={13} />
          {t('budget.binds')}
        </span>
      )}
    </span>
  )
}

function ModelsCell({ row }: CellProps) {
  const { t } = useTranslation()
  return (
    <>
      <ListPopover label={t('models.count', { count: row.model_count })}>
        <ModelList id={row.id} />
      </ListPopover>
      {row.unavailable_model_count > 0 && (
        <div className={styles['warn']}>
          <WarningIcon size={13} />
          {t('models.unavailable', { count: row.unavailable_model_count })}
        </div>
      )}
    </>
  )
}

function ModelList({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const key = useQuery(keyQuery(id))
  if (!key.data) return <>{t('loading')}</>
  if (key.data.models.length === 0) return <>{t('models.none')}</>
  const { callable_models: callable } = key.data
  return (
    <ul className={styles['popList']}>
      {key.data.models.map((model) => (
        <li key={model}>
          {model}
          {!callable.includes(model) && <small className="muted"> {t('modelList.leftOut')}</small>}
        </li>
      ))}
    </ul>
  )
}

function LimitsCell({ row }: CellProps) {
  const { t } = useTranslation()
  const rates = useRateWords()(row)
  const all = row.permissions.length === ENDPOINTS.length
  return (
    <div className={styles['limits']}>
      <ListPopover
        label={
          all
            ? t('permissions.all')
            : t('permissions.some', { count: row.permissions.length, of: ENDPOINTS.length })
        }
      >
        <ul className={styles['popList']}>
          {row.permissions.map((endpoint) => (
            <li key={endpoint}>{t(`endpoint.${endpoint}`)}</li>
          ))}
        </ul>
      </ListPopover>
      <span className={`${styles['sub']} ${styles['rates']}`}>{rates ?? t('rates.none')}</span>
    </div>
  )
}

function CostCell({ row }: CellProps) {
  const { t, format } = useTranslation()
  const { days, total } = row.cost_7d
  const summary = t('overview.costSummary', {
    days: days.map((day) => (day === null ? t('noData') : format.money(day))).join(', '),
  })
  return (
    <span className={styles['cost']}>
      <Sparkline values={days.map((day) => Number(day ?? 0))} summary={summary} />
      <span>{format.money(total)}</span>
    </span>
  )
}

function MomentCell({ at }: { readonly at: string | null }) {
  const { t } = useTranslation()
  if (at === null) return <span className="muted">{t('never')}</span>
  return (
    <span className={styles['moment']}>
      <Moment at={at} isShort />
    </span>
  )
}

type ListPopoverProps = { readonly label: string; readonly children: ReactNode }

/** A few words that open into the whole list. */
function ListPopover({ label, children }: ListPopoverProps) {
  return (
    <Popover withArrow trapFocus returnFocus>
      <Popover.Target>
        <button type="button" className={styles['plain']}>
          {label}
        </button>
      </Popover.Target>
      <Popover.Dropdown tabIndex={0} aria-label={label}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
