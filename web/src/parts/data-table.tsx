// An HTML table. Its caller sorts the rows; below 768 px each row becomes a card of the same cells. With what stands below
// a table: the pages of a list, or a button for more of it.
import { Button, Group, NativeSelect, Skeleton } from '@mantine/core'
import { type CSSProperties, type ReactNode, useCallback, useState } from 'react'
import { type Translate, useTranslation } from '../i18n/i18n.ts'
import { BusyButton } from './changes.tsx'
import styles from './data-table.module.css'
import { SortDownIcon, SortIcon, SortUpIcon } from './icons.tsx'
import { EmptyState, type EmptyStateProps, type Failing, QueryError } from './notices.tsx'
import shadows from './side-shadows.module.css'

type Order = 'asc' | 'desc'
export type Sort<Key extends string> = { readonly by: Key; readonly order: Order }

export type Column<Row, Key extends string = never> = {
  /** No two columns of a table have the same. */
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** The sort key; a column without one cannot be sorted. */
  readonly sort?: Key
  /** The order after the first press: numbers, which stand at the end of their cells, start with the highest. */
  readonly firstOrder?: Order
  readonly align?: 'end'
  /** Where the table is aligned: the least width. What is left goes to the columns without one. */
  readonly width?: string
  /** The cell that names the row, and is the title of its card. */
  readonly isRowHeader?: boolean
  /** Shown instead of the header text. */
  readonly headerCell?: ReactNode
  /** The header is for assistive technology alone. */
  readonly hideHeader?: boolean
  /** Its place on a card, if not below its header. */
  readonly card?: 'plain' | 'corner' | 'hidden'
  /** What the column adds up to, in a final row. */
  readonly total?: ReactNode
}

/** The total of a column that does not add up: a card leaves it out. */
export const noTotal = '–'

/** The last column: what can be done with a row, in the corner of its card or below the rest. */
export function actionColumn<Row>(
  t: Translate,
  cell: (row: Row) => ReactNode,
  card: 'corner' | 'plain' = 'corner',
): Column<Row> {
  return { header: t('overview.actions'), hideHeader: true, align: 'end', card, cell }
}

type DataTableProps<Row extends Identified, Key extends string> = {
  readonly caption: string
  readonly columns: readonly Column<Row, Key>[]
  /** Undefined while they load. */
  readonly rows: readonly Row[] | undefined
  readonly sort?: Sort<Key>
  readonly onSort?: (sort: Sort<Key>) => void
  readonly isSelected?: (row: Row) => boolean
  /** Old rows stay while new ones load. */
  readonly isFetching?: boolean
  readonly isDense?: boolean
  /** One of several tables below each other: their columns agree. */
  readonly isAligned?: boolean
  /** How many rows to draw while the first ones load. */
  readonly expectedRows?: number
  /** How many lines the cell that names the row has. */
  readonly expectedLines?: number
}

type Identified = { readonly id: string }

type QueryTableProps<Row extends Identified, Key extends string> = DataTableProps<Row, Key> & {
  readonly query: Failing & Partial<Paged>
  /** What to say if the rows cannot be loaded. */
  readonly failed: string
  /** What to say if there are none. */
  readonly none?: EmptyStateProps
}

/** What a query found as a table, with a button for more; or why it failed, or that there is nothing. */
export function QueryTable<Row extends Identified, Key extends string>({
  query,
  failed,
  none,
  ...table
}: QueryTableProps<Row, Key>) {
  if (query.error && !table.rows) return <QueryError title={failed} query={query} />
  if (none && table.rows?.length === 0 && !query.hasNextPage) return <EmptyState {...none} />
  return (
    <>
      <DataTable {...table} />
      <LoadMore query={query} />
    </>
  )
}

export function DataTable<Row extends Identified, Key extends string>(
  props: DataTableProps<Row, Key>,
) {
  const { caption, columns, rows, sort, onSort, isSelected } = props
  const { isFetching = false, isDense = false, isAligned = false } = props
  const { t } = useTranslation()
  const fold = useFold(rows?.length ?? 0)
  return (
    <SideScroll
      caption={caption}
      isBusy={rows === undefined || isFetching}
      above={
        <>
          {isFetching && rows && <div className={styles['progress']} />}
          <SortSelect {...props} />
        </>
      }
      below={
        <>
          {fold.button}
          <span role="status" className="visually-hidden">
            {rows === undefined ? t('loading') : ''}
          </span>
        </>
      }
    >
      <table className={styles['table']} data-dense={isDense} data-aligned={isAligned} role="table">
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <HeaderCell key={column.header} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className={fold.className}>
          {rows === undefined && <SkeletonRows {...props} />}
          {rows?.map((row) => (
            <tr key={row.id} role="row" aria-selected={isSelected?.(row)}>
              {columns.map((column) => (
                <BodyCell key={column.header} column={column}>
                  {column.cell(row)}
                </BodyCell>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ total }) => total !== undefined) && <TotalRow columns={columns} />}
      </table>
    </SideScroll>
  )
}

type SideScrollProps = {
  readonly caption: string
  readonly isBusy: boolean
  readonly above: ReactNode
  readonly below: ReactNode
  readonly children: ReactNode
}

/** Knows what it hides on its sides. A part of its own, or every row would be drawn again when that changes. */
function SideScroll({ caption, isBusy, above, below, children }: SideScrollProps) {
  const { ref, hidden } = useHiddenSides()
  return (
    <div className={`${styles['frame']} ${shadows['box']}`} aria-busy={isBusy} data-hidden={hidden}>
      {above}
      <div ref={ref} className={styles['scroll']} {...(hidden !== 'none' && scrolledBy(caption))}>
        {children}
      </div>
      {below}
    </div>
  )
}

/** How many show at first; the style sheet hides the rest. */
const shownMax = 10

type Fold = {
  /** Of the list: of its children, only the first show. */
  readonly className: string | undefined
  /** Of what is no child of the list itself, but further down, by its place among all entries. */
  readonly classNameAt: (index: number) => string | undefined
  /** Stands below the list. */
  readonly button: ReactNode
}

/** What is too long for a narrow screen: there, only the first entries show at first, and a button for all. */
export function useFold(count: number): Fold {
  const { t } = useTranslation()
  const [isUnfolded, setUnfolded] = useState(false)
  if (isUnfolded || count <= shownMax)
    return { className: undefined, classNameAt: () => undefined, button: null }
  return {
    className: styles['folded'],
    classNameAt: (index) => (index < shownMax ? undefined : styles['later']),
    button: (
      <div className={styles['unfold']}>
        <Button variant="default" fullWidth onClick={() => setUnfolded(true)}>
          {t('table.showAll', { count })}
        </Button>
      </div>
    ),
  }
}

/** What hides something can be scrolled by keys, even if nothing in it takes the focus. */
function scrolledBy(caption: string) {
  return { tabIndex: 0, role: 'region', 'aria-label': caption }
}

/** The parts of a table look at its columns, never at its rows. */
type Head<Key extends string> = DataTableProps<never, Key>

type HeaderCellProps<Key extends string> = Pick<Head<Key>, 'sort' | 'onSort'> & {
  readonly column: Column<never, Key>
}

function HeaderCell<Key extends string>({ column, sort, onSort }: HeaderCellProps<Key>) {
  const sorted = sort && sort.by === column.sort ? sort.order : undefined
  const words = { asc: 'ascending', desc: 'descending' } as const
  const Icon = { asc: SortUpIcon, desc: SortDownIcon, none: SortIcon }[sorted ?? 'none']
  return (
    <th
      role="columnheader"
      scope="col"
      data-align={column.align}
      data-card={column.card === 'corner' ? 'corner' : undefined}
      data-edge={edgeOf(column)}
      aria-sort={sorted ? words[sorted] : undefined}
      style={column.width ? widthOf(column.width) : undefined}
    >
      {column.sort && onSort ? (
        <button
          type="button"
          className={styles['sort']}
          data-sorted={sorted !== undefined}
          onClick={() => onSort(nextSort(column, sort))}
        >
          <SortWords header={column.header} icon={<Icon size={14} />} />
        </button>
      ) : (
        (column.headerCell ?? (
          <span className={column.hideHeader ? 'visually-hidden' : undefined}>{column.header}</span>
        ))
      )}
    </th>
  )
}

/** For the style sheet, which knows where there is room for it. */
function widthOf(width: string): CSSProperties {
  return { '--width': width } as CSSProperties
}

/** The menu of a row stays in place at the end. */
function edgeOf({ card }: Pick<Column<never>, 'card'>): 'end' | undefined {
  return card === 'corner' ? 'end' : undefined
}

/** Where a header takes more than one line, the sign stays beside its last word. */
function SortWords({ header, icon }: { readonly header: string; readonly icon: ReactNode }) {
  const last = header.lastIndexOf(' ') + 1
  return (
    <>
      {header.slice(0, last)}
      <span className={styles['lastWord']}>
        {header.slice(last)}
        {icon}
      </span>
    </>
  )
}

function nextSort<Key extends string>(
  column: Column<never, Key>,
  sort: Sort<Key> | undefined,
): Sort<Key> {
  const by = column.sort as Key
  const first = column.firstOrder ?? (column.align ? 'desc' : 'asc')
  if (sort?.by !== by) return { by, order: first }
  return { by, order: sort.order === 'asc' ? 'desc' : 'asc' }
}

type BodyCellProps = { readonly column: Column<never, string>; readonly children: ReactNode }

function BodyCell({ column, children }: BodyCellProps) {
  const content = (
    <>
      {!cardPlaceOf(column) && <span className={styles['label']}>{column.header}</span>}
      <div>{children}</div>
    </>
  )
  const attributes = {
    'data-align': column.align,
    'data-card': cardPlaceOf(column),
    'data-edge': edgeOf(column),
  }
  return column.isRowHeader ? (
    <th role="rowheader" scope="row" {...attributes}>
      {content}
    </th>
  ) : (
    <td role="cell" {...attributes}>
      {content}
    </td>
  )
}

function cardPlaceOf({ card, isRowHeader }: Column<never, string>) {
  return card ?? (isRowHeader ? 'title' : undefined)
}

function TotalRow({ columns }: Pick<Head<string>, 'columns'>) {
  return (
    <tfoot role="rowgroup">
      <tr role="row">
        {columns.map((column) => (
          <BodyCell
            key={column.header}
            column={column.total === noTotal ? { ...column, card: 'hidden' } : column}
          >
            {column.total}
          </BodyCell>
        ))}
      </tr>
    </tfoot>
  )
}

type SkeletonRowsProps = Pick<Head<string>, 'columns' | 'expectedRows' | 'expectedLines'>

function SkeletonRows({ columns, expectedRows = 5, expectedLines = 1 }: SkeletonRowsProps) {
  return Array.from({ length: expectedRows }, (_, index) => (
    <tr key={index} role="row" aria-hidden="true">
      {columns.map((column) => (
        <td key={column.header} role="cell" data-card={cardPlaceOf(column) ?? 'plain'}>
          {Array.from({ length: column.isRowHeader ? expectedLines : 1 }, (__, line) => (
            <Skeleton key={line} height={14} my={5} width="70%" radius="sm" />
          ))}
        </td>
      ))}
    </tr>
  ))
}

type SortSelectProps<Key extends string> = Pick<Head<Key>, 'columns' | 'sort' | 'onSort'>

/** Cards have no header row to press. */
function SortSelect<Key extends string>({ columns, sort, onSort }: SortSelectProps<Key>) {
  const { t } = useTranslation()
  if (!sort || !onSort) return null
  const options = columns.flatMap((column) => {
    const by = column.sort
    return by === undefined ? [] : [{ by, header: column.header }]
  })
  return (
    <div className={styles['sortSelect']}>
      <NativeSelect
        label={t('table.sortBy')}
        value={`${sort.by} ${sort.order}`}
        onChange={({ currentTarget }) => {
          const [by, order] = currentTarget.value.split(' ')
          const chosen = options.find((option) => option.by === by)
          if (chosen) onSort({ by: chosen.by, order: order === 'asc' ? 'asc' : 'desc' })
        }}
        data={options.flatMap(({ by, header }) => [
          { value: `${by} asc`, label: t('table.ascending', { column: header }) },
          { value: `${by} desc`, label: t('table.descending', { column: header }) },
        ])}
      />
    </div>
  )
}

type PagerProps = {
  readonly page: number
  readonly perPage: number
  readonly total: number
  readonly onPage: (page: number) => void
}

export function Pager({ page, perPage, total, onPage }: PagerProps) {
  const { t, format } = useTranslation()
  const first = (page - 1) * perPage + 1
  const last = Math.min(page * perPage, total)
  return (
    <Group component="nav" justify="space-between" mt="sm" aria-label={t('table.pages')}>
      <span role="status" className="muted">
        {t('table.range', {
          first: format.number(Math.min(first, total)),
          last: format.number(last),
          total: format.number(total),
        })}
      </span>
      {total > perPage && (
        <Group gap="xs">
          <Button
            size="compact-md"
            variant="default"
            disabled={page <= 1}
            onClick={() => onPage(page - 1)}
          >
            {t('table.previous')}
          </Button>
          <Button
            size="compact-md"
            variant="default"
            disabled={last >= total}
            onClick={() => onPage(page + 1)}
          >
            {t('table.next')}
          </Button>
        </Group>
      )}
    </Group>
  )
}

type Paged = {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => unknown
}

export function LoadMore({ query }: { readonly query: Partial<Paged> }) {
  const { t } = useTranslation()
  if (!query.hasNextPage) return null
  return (
    <Group justify="center" mt="md">
      <BusyButton
        variant="default"
        isBusy={query.isFetchingNextPage ?? false}
        onClick={() => void query.fetchNextPage?.()}
      >
        {t('requests.more')}
      </BusyButton>
    </Group>
  )
}

type HiddenSides = 'none' | 'start' | 'end' | 'both'

/** The sides on which a box that scrolls sideways hides content, so that it can show a hint. */
export function useHiddenSides() {
  const [hidden, setHidden] = useState<HiddenSides>('none')
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return undefined
    const look = () => setHidden(hiddenSides(box))
    const sizes = new ResizeObserver(look)
    for (const each of [box, ...box.children]) sizes.observe(each)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])
  return { ref, hidden }
}

function hiddenSides({ scrollLeft, scrollWidth, clientWidth }: HTMLElement): HiddenSides {
  // In right-to-left scripts scrollLeft is negative, and at the end it may be a fraction of a pixel short.
  const passed = Math.abs(scrollLeft)
  const isStart = passed > 1
  const isEnd = scrollWidth - clientWidth - passed > 1
  if (isStart) return isEnd ? 'both' : 'start'
  return isEnd ? 'end' : 'none'
}
