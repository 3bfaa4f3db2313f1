// Calls that were refused, newest first: with which code, what was lacking, and who called. Never the content.
import { useInfiniteQuery } from '@tanstack/react-query'
import { refusalRoutes, type RefusalRow } from '../../../../src/admin/contract/usage.ts'
import { call } from '../../base/api.ts'
import { pagesQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { type Column, QueryTable } from '../../parts/data-table.tsx'
import { BanIcon, ListIcon } from '../../parts/icons.tsx'
import { KeyLink } from './request-table.tsx'
import styles from './request-table.module.css'

type RefusalTableProps = {
  readonly query: {
    readonly group?: string | undefined
    readonly key?: string | undefined
    readonly since?: string | undefined
    readonly until?: string | undefined
  }
  /** Name the key of each call. */
  readonly withKey?: boolean
}

export function RefusalTable({ query, withKey = false }: RefusalTableProps) {
  const { t } = useTranslation()
  const refusals = useInfiniteQuery(
    pagesQuery(['requests', 'refusals', query], (before, signal) =>
      call(refusalRoutes.listRefusals, { query: { ...query, before, limit: 50 }, signal }),
    ),
  )
  return (
    <QueryTable
      caption={t('refusals.caption')}
      columns={useColumns(withKey)}
      rows={refusals.data?.pages.flatMap((page) => page.refusals)}
      query={refusals}
      failed={t('refusals.failed')}
      none={{ icon: ListIcon, title: t('refusals.none'), about: t('refusals.noneAbout') }}
      expectedRows={10}
      expectedLines={2}
    />
  )
}

function useColumns(withKey: boolean): readonly Column<RefusalRow>[] {
  const { t, find, format } = useTranslation()
  const key: Column<RefusalRow> = {
    header: t('requests.key'),
    cell: (row) => <KeyCell row={row} />,
  }
  return [
    {
      header: t('requests.time'),
      isRowHeader: true,
      cell: (row) => (
        <>
          <span title={format.exactTime(row.created_at)}>{format.rowTime(row.created_at)}</span>
          {row.further > 0 && (
            <div className={styles['sub']}>
              {t('refusals.further', { count: row.further, value: format.number(row.further) })}
            </div>
          )}
        </>
      ),
    },
    ...(withKey ? [key] : []),
    {
      header: t('requests.status'),
      cell: (row) => (
        <>
          <StatusBadge tone="warn" icon={BanIcon} word={t('requests.outcomes.refused')} />
          <div className={styles['code']}>{row.code}</div>
        </>
      ),
    },
    { header: t('refusals.lacking'), cell: (row) => <Lacking row={row} /> },
    {
      header: t('requests.model'),
      cell: (row) => (
        <>
          <span className="break">{row.model ?? '–'}</span>
          {row.endpoint && (
            <div className={styles['sub']}>{find(`endpoint.${row.endpoint}`) ?? row.endpoint}</div>
          )}
        </>
      ),
    },
    {
      header: t('refusals.client'),
      cell: (row) => (
        <>
          <span className="break">{row.address ?? '–'}</span>
          {row.user_agent && <div className={styles['sub']}>{row.user_agent}</div>}
        </>
      ),
    },
  ]
}

function KeyCell({ row }: { readonly row: RefusalRow }) {
  const { t } = useTranslation()
  if (row.key !== null)
    return (
      <div className={styles['name']}>
        <KeyLink id={row.key} name={row.key_name} />
      </div>
    )
  return (
    <>
      <div className={styles['name']}>{t('refusals.unknownKey')}</div>
      <div className={styles['sub']}>{row.masked ?? t('refusals.notOurForm')}</div>
    </>
  )
}

/** Whose budget or limit had no room, what the call could have cost, and what was left. */
function Lacking({ row }: { readonly row: RefusalRow }) {
  const { find, format, t } = useTranslation()
  if (row.scope === null) return '–'
  const period = row.period === null ? undefined : find(`periodShort.${row.period}`)
  return (
    <>
      {find(`refusals.scope.${row.scope}`) ?? row.scope}
      {period !== undefined && ` (${period})`}
      {row.required !== null && row.remaining !== null && (
        <div className={styles['sub']}>
          {t('refusals.amounts', {
            required: format.money(row.required),
            remaining: format.moneyLeft(row.remaining),
          })}
        </div>
      )}
    </>
  )
}
