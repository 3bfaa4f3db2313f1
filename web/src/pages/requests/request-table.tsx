// Requests as a table, newest first; a row opens into everything known about it.
import { UnstyledButton } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RequestRow } from '../../../../src/admin/contract/usage.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge, useMoneyColumn } from '../../parts/cells.tsx'
import { type Column, QueryTable } from '../../parts/data-table.tsx'
import { CheckIcon, ListIcon, WarningIcon } from '../../parts/icons.tsx'
import styles from './request-table.module.css'

type RequestTableProps = {
  readonly requests: UseInfiniteQueryResult<InfiniteData<Page>>
  /** Name the key of each request. */
  readonly withKey?: boolean
  readonly onOpen: (id: string) => void
}

type Page = { readonly requests: readonly RequestRow[] }

export function RequestTable({ requests, withKey = false, onOpen }: RequestTableProps) {
  const { t } = useTranslation()
  const rows = requests.data?.pages.flatMap((page) => page.requests)
  return (
    <QueryTable
      caption={t('requests.caption')}
      columns={useColumns({ rows, withKey, onOpen })}
      rows={rows}
      query={requests}
      failed={t('requests.failed')}
      none={{ icon: ListIcon, title: t('requests.none'), about: t('requestsPage.noneAbout') }}
      expectedRows={10}
      expectedLines={2}
    />
  )
}

type ColumnsOptions = Required<Omit<RequestTableProps, 'requests'>> & {
  readonly rows: readonly RequestRow[] | undefined
}

function useColumns({ rows, withKey, onOpen }: ColumnsOptions): readonly Column<RequestRow>[] {
  const { t, find, format } = useTranslation()
  const money = useMoneyColumn(rows?.map(({ cost }) => cost))
  const key: Column<RequestRow> = {
    header: t('requests.key'),
    cell: (row) => (
      <div className={styles['name']}>
        <KeyLink id={row.key} name={row.key_name} />
      </div>
    ),
  }
  return [
    {
      header: t('requests.time'),
      isRowHeader: true,
      cell: (row) => (
        <UnstyledButton
          className={styles['open']}
          title={format.exactTime(row.created_at)}
          onClick={() => onOpen(row.id)}
        >
          {format.rowTime(row.created_at)}
        </UnstyledButton>
      ),
    },
    ...(withKey ? [key] : []),
    {
      header: t('requests.model'),
      cell: (row) => (
        <>
          <span className="break">{row.model}</span>
          {row.target && <div className={styles['sub']}>{row.target}</div>}
        </>
      ),
    },
    {
      header: t('requests.endpoint'),
      cell: ({ endpoint }) => find(`endpoint.${endpoint}`) ?? endpoint,
    },
    { header: t('requests.status'), cell: (row) => <RequestStatus row={row} /> },
    {
      header: t('requests.tokens'),
      align: 'end',
      cell: (row) =>
        t('requests.inOut', {
          input: format.number(row.input_tokens),
          output: format.number(row.output_tokens),
        }),
    },
    {
      header: t('metric.cost'),
      align: 'end',
      cell: ({ cost, estimated }) => (
        <>
          {estimated && '≈ '}
          {money(cost)}
        </>
      ),
    },
    {
      header: t('requests.latency'),
      align: 'end',
      cell: (row) => t('requests.ms', { value: format.number(row.latency_ms) }),
    },
  ]
}

type KeyLinkProps = { readonly id: string; readonly name: string | null }

/** The key of a call, which leads to it if the reader may see it. */
export function KeyLink({ id, name }: KeyLinkProps) {
  const { may } = useSession()
  if (!may('configuration:read')) return name ?? id
  return (
    <Link to="/settings/api-access/$id" params={{ id }}>
      {name ?? id}
    </Link>
  )
}

function RequestStatus({ row }: { readonly row: RequestRow }) {
  const isGood = row.code === null
  return (
    <>
      <StatusBadge
        tone={isGood ? 'good' : 'bad'}
        icon={isGood ? CheckIcon : WarningIcon}
        word={String(row.status)}
      />
      {row.code && <div className={styles['code']}>{row.code}</div>}
    </>
  )
}
