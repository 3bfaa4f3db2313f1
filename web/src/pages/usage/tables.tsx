// The figures of a time span: the sums, a chart over time, and the same numbers as tables.
import { Stack } from '@mantine/core'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { usageRoutes } from '../../../../src/admin/contract/usage.ts'
import type { UsageAnswer, UsageRow } from '../../../../src/admin/contract/usage.ts'
import { REPORT_ROWS } from '../../../../src/core/limits.ts'
import {
  type Group,
  type Metric,
  METRICS,
  OUTSIDE_GROUPS,
  type RequestsSearch,
  type Span,
  type UsageFilters,
} from '../../base/address.ts'
import { call } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { type Translate, useTranslation } from '../../i18n/i18n.ts'
import { useMoneyColumn } from '../../parts/cells.tsx'
import { type Column, DataTable, noTotal, type Sort } from '../../parts/data-table.tsx'
import { ErrorAlert, Loading, Notice } from '../../parts/notices.tsx'
import { UsageChart } from './chart.tsx'
import { courseOf, groupOf, keyNamesOf, type Totals, totalsBy } from './figures.ts'
import { requestsBehind, useGroupCell } from './links.tsx'
import styles from './tables.module.css'

type FiguresProps = {
  readonly course: UsageAnswer
  readonly asked: Omit<UsageAsked, 'by'>
  readonly metric: Metric
  readonly group: Group
}

export function Figures({ course, asked, metric, group }: FiguresProps) {
  return (
    <Stack gap="xl">
      <Sums {...course} asked={asked} />
      <Chart course={course} asked={asked} metric={metric} group={group} />
      {group !== 'day' && <GroupTable asked={asked} group={group} />}
      <TimeTable asked={asked} />
    </Stack>
  )
}

function Chart({ course, asked: { span, filters }, metric, group }: FiguresProps) {
  const { t, format } = useTranslation()
  const nameOf = useGroupName(group, course.rows)
  const nameCell = useGroupCell({ group, nameOf, filters })
  const rest = t('usage.others')
  const drawn = useMemo(
    () => courseOf(course.rows, span, { metric, rest }),
    [course, span, metric, rest],
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
        legend={drawn.series.map((id) => (id === rest ? rest : nameCell(id)))}
        summary={t('usage.summary', { metric: figure, total: sum })}
        isWhole={metric !== 'cost'}
        formatValue={(value) =>
          metric === 'cost' ? format.money(value.toFixed(9)) : format.compact(value)
        }
        formatMarks={(marks) =>
          metric === 'cost'
            ? format.moneyRow(marks.map((mark) => mark.toFixed(12)))
            : marks.map((mark) => format.compact(mark))
        }
        formatMoment={(at) => (span.step === 'day' ? format.day(at) : format.hour(at))}
      />
    </section>
  )
}

type GroupTableProps = Pick<FiguresProps, 'asked'> & { readonly group: Exclude<Group, 'day'> }

function GroupTable({ asked, group }: GroupTableProps) {
  const { t } = useTranslation()
  const usage = useQuery(usageQuery({ ...asked, by: group }))
  const nameOf = useGroupName(group, usage.data?.rows)
  const nameCell = useGroupCell({ group, nameOf, filters: asked.filters })
  return (
    <>
      <UsageTable
        title={t(`usage.table.${group}`)}
        nameHeader={t(`usage.group.${group}`)}
        usage={usage}
        groupOf={groupOf}
        nameOf={nameOf}
        nameCell={nameCell}
      />
      {group === 'tag' && <Notice tone="info">{t('usage.tagsCount')}</Notice>}
    </>
  )
}

function TimeTable({ asked: { span, filters } }: Pick<FiguresProps, 'asked'>) {
  const { t, format } = useTranslation()
  return (
    <UsageTable
      title={t('usage.byTime')}
      nameHeader={t('usage.time')}
      usage={useQuery(usageQuery({ span, filters, by: span.step }))}
      groupOf={(row) => row.day ?? row.hour ?? ''}
      nameOf={(at) => (span.step === 'day' ? format.day(at) : format.hour(at))}
      isTime
    />
  )
}

/** Keys, groups and endpoints have display names; some requests reached no provider, and listing calls have no model. */
function useGroupName(group: Group, rows: UsageAnswer['rows'] = []): (name: string) => string {
  const { t, find } = useTranslation()
  const keyNames = useMemo(() => keyNamesOf(rows), [rows])
  const groupNames = useMemo(() => new Map(rows.map((row) => [row.group, row.group_name])), [rows])
  return (name) => {
    if (group === 'key') return keyNames.get(name) ?? name
    if (group === 'endpoint') return find(`endpoint.${name}`) ?? name
    if (group === 'group' && name === OUTSIDE_GROUPS) return t('usage.noGroup')
    if (group === 'group') return groupNames.get(name) ?? name
    if (name !== '' || group === 'day') return name
    return t(NAMELESS[group])
  }
}

const NAMELESS = {
  owner: 'usage.noOwner',
  environment: 'usage.noEnvironment',
  tag: 'usage.noTag',
  model: 'usage.noModel',
  provider: 'usage.noProvider',
} as const

const shown = ['cost', 'requests', 'failed', 'refused', 'input_tokens', 'output_tokens'] as const
/** Shown also as a part of all requests. */
const shared: readonly Metric[] = ['failed', 'refused']

type SumsProps = Pick<UsageAnswer, 'total' | 'previous'> & Pick<FiguresProps, 'asked'>

/** The sums of a time span at a glance, each compared with the span before. */
function Sums({ total, previous, asked: { span, filters } }: SumsProps) {
  const { t, format } = useTranslation()
  const { may } = useSession()
  const wordOf = (metric: (typeof shown)[number], sums: UsageAnswer['total']): string => {
    if (metric === 'cost') return format.money(sums.cost)
    return metric.endsWith('_tokens') ? format.compact(sums[metric]) : format.number(sums[metric])
  }
  const shareOf = (count: number): number => (total.requests === 0 ? 0 : count / total.requests)
  return (
    <dl className={styles['sums']}>
      {shown.map((metric) => (
        <div key={metric} className="card">
          <dt>
            <SumName
              metric={metric}
              search={
                may('requests:read') ? requestsBehind(metric, filters, span.since) : undefined
              }
            />
          </dt>
          <dd>
            {wordOf(metric, total)}{' '}
            {shared.includes(metric) && (
              <small>{format.percent(shareOf(Number(total[metric])))}</small>
            )}
          </dd>
          {previous && (
            <dd className={styles['before']}>
              {t('usage.beforeValue', { value: wordOf(metric, previous.total) })} ·{' '}
              <Change before={Number(previous.total[metric])} now={Number(total[metric])} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  )
}

type SumNameProps = { readonly metric: Metric; readonly search: RequestsSearch | undefined }

function SumName({ metric, search }: SumNameProps) {
  const { t } = useTranslation()
  const name = t(`metric.${metric}`)
  return search ? (
    <Link to="/settings/requests" search={search}>
      {name}
    </Link>
  ) : (
    name
  )
}

type UsageTableProps = {
  readonly title: string
  /** What the rows are: models, keys or days. */
  readonly nameHeader: string
  readonly usage: UseQueryResult<UsageAnswer>
  readonly groupOf: (row: UsageRow) => string
  readonly nameOf: (group: string) => string
  /** How the name is shown, if it is more than text. */
  readonly nameCell?: (group: string) => ReactNode
  /** The rows are days or hours, in chronological order until the reader sorts them. */
  readonly isTime?: boolean
}

function UsageTable({ title, usage, ...props }: UsageTableProps) {
  const { t } = useTranslation()
  return (
    <section>
      <h2 className={styles['heading']}>{title}</h2>
      {usage.error && <ErrorAlert title={t('usage.failed')} error={usage.error} />}
      {usage.isPending && <Loading lines={4} height={40} />}
      {usage.data && <TotalsTable caption={title} usage={usage.data} {...props} />}
    </section>
  )
}

type TotalsTableProps = Omit<UsageTableProps, 'title' | 'usage'> & {
  readonly caption: string
  readonly usage: UsageAnswer
}

type SortKey = 'name' | Metric

function TotalsTable(props: TotalsTableProps) {
  const { caption, nameHeader, usage, groupOf, nameOf, nameCell = nameOf, isTime = false } = props
  const { total, previous } = usage
  const { t, format } = useTranslation()
  const [sort, setSort] = useState<Sort<SortKey>>(
    isTime ? { by: 'name', order: 'asc' } : { by: 'cost', order: 'desc' },
  )
  const rows = totalsBy(usage.rows, groupOf)
  const before = previous && { total: previous.total, rows: totalsBy(previous.rows, groupOf) }
  const money = useMoneyColumn([...rows, total].map(({ cost }) => cost))
  const moneyBefore = useMoneyColumn(
    before ? [...before.rows, before.total].map(({ cost }) => cost) : undefined,
  )
  const shown = (metric: Metric, row: Pick<Totals, Metric>): ReactNode =>
    metric === 'cost' ? money(row.cost) : format.number(row[metric])
  const more = t('usage.rest', { count: usage.left_out })
  const columns: Column<Totals, SortKey>[] = [
    {
      header: nameHeader,
      sort: 'name',
      isRowHeader: true,
      cell: ({ id }) => <div className={styles['name']}>{id === restId ? more : nameCell(id)}</div>,
      total: t('usage.total'),
    },
    ...METRICS.map((metric): Column<Totals, SortKey> => ({
      header: t(`metric.${metric}`),
      sort: metric,
      align: 'end',
      cell: (row) => shown(metric, row),
      total: shown(metric, total),
    })),
  ]
  if (before) columns.splice(2, 0, ...comparison({ t, before, total, moneyBefore }))
  columns.push(...latencies({ t, format, rows: usage.rows }))
  const shownRows = sorted(rows, sort, isTime ? undefined : nameOf)
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={usage.left_out === 0 ? shownRows : [...shownRows, { ...usage.rest, id: restId }]}
      sort={sort}
      onSort={setSort}
    />
  )
}

/** No group has this id. */
const restId = '…'

type LatencyOptions = Pick<ReturnType<typeof useTranslation>, 't' | 'format'> & {
  readonly rows: readonly UsageRow[]
}

/** How long answers took, where that is known: by model alone. */
function latencies({ t, format, rows }: LatencyOptions): readonly Column<Totals>[] {
  const byModel = new Map(rows.map((row) => [groupOf(row), row]))
  if (!rows.some((row) => row.latency_ms_p50 !== null)) return []
  const column = (header: string, names: readonly [LatencyName, LatencyName]): Column<Totals> => ({
    header,
    align: 'end',
    cell: ({ id }) => {
      const found = names.map((name) => byModel.get(id)?.[name] ?? null)
      return found.map((ms) => (ms === null ? '–' : format.number(ms))).join(' / ')
    },
    total: noTotal,
  })
  return [
    column(t('usage.latency'), ['latency_ms_p50', 'latency_ms_p95']),
    column(t('usage.firstToken'), ['first_token_ms_p50', 'first_token_ms_p95']),
  ]
}

type LatencyName = `${'latency' | 'first_token'}_ms_${'p50' | 'p95'}`

type ComparisonOptions = {
  readonly t: Translate
  readonly total: Pick<Totals, Metric>
  readonly before: { readonly rows: readonly Totals[]; readonly total: Pick<Totals, Metric> }
  readonly moneyBefore: ReturnType<typeof useMoneyColumn>
}

/** The cost in the span before, and the change since then. */
function comparison(options: ComparisonOptions): readonly Column<Totals>[] {
  const { t, before, total, moneyBefore } = options
  const costs = new Map(before.rows.map(({ id, cost }) => [id, cost]))
  const costBefore = (id: string): string => costs.get(id) ?? '0'
  return [
    {
      header: t('usage.before'),
      align: 'end',
      cell: ({ id }) => moneyBefore(costBefore(id)),
      total: moneyBefore(before.total.cost),
    },
    {
      header: t('usage.change'),
      align: 'end',
      cell: ({ id, cost }) => <Change before={Number(costBefore(id))} now={Number(cost)} />,
      total: <Change before={Number(before.total.cost)} now={Number(total.cost)} />,
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
      ? sign * nameOf(one.id).localeCompare(nameOf(other.id))
      : sign * (Number(one[by]) - Number(other[by])),
  )
}

/** A relative change. It has no colour: whether more is good or bad depends on the reader. */
function Change({ before, now }: { readonly before: number; readonly now: number }) {
  const { t, format } = useTranslation()
  if (before === now) return <>{t('usage.unchanged')}</>
  return <>{before === 0 ? t('usage.new') : format.change(now / before - 1)}</>
}

/** Usage within a time span, summed by the chosen groups. */
const rowsMax = 10_000

export type UsageAsked = {
  readonly span: Span
  readonly by: string
  readonly filters: UsageFilters
  readonly compare?: boolean | undefined
}

/** By time there are many short rows; a table of anything else is cut where nobody reads on. */
export const usageQuery = ({ span: { since, until }, by, filters, compare }: UsageAsked) =>
  queryOptions({
    queryKey: ['usage', since, until, by, filters, compare],
    queryFn: ({ signal }) =>
      call(usageRoutes.readUsage, {
        query: {
          ...{ since, until, by, ...filters },
          limit: /\b(day|hour)\b/.test(by) ? rowsMax : REPORT_ROWS,
          compare: compare ? 'previous' : undefined,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
