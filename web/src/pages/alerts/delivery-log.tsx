// The alerts that were sent, to whom, and with what result.
import { useInfiniteQuery } from '@tanstack/react-query'
import { alertRoutes, type DeliveryAnswer } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../base/api.ts'
import { every, pagesQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { type Column, DataTable, LoadMore } from '../../parts/data-table.tsx'
import { CheckIcon, ClockIcon, ListIcon, WarningIcon } from '../../parts/icons.tsx'
import { EmptyState, QueryError } from '../../parts/notices.tsx'
import { useAlertWords } from './alert-words.ts'
import styles from './alerts.module.css'

const renewMs = 15_000

export function DeliveryLog() {
  const { t } = useTranslation()
  const columns = useColumns()
  const log = useInfiniteQuery({
    ...pagesQuery(['alerts', 'deliveries'], (before, signal) =>
      call(alertRoutes.listDeliveries, { query: { before }, signal }),
    ),
    refetchInterval: every(renewMs),
  })
  const rows = log.data?.pages.flatMap((page) => page.deliveries)
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.log')}</h2>
      </div>
      {log.error && !rows ? (
        <QueryError title={t('alerts.failed')} query={log} />
      ) : rows?.length === 0 ? (
        <EmptyState icon={ListIcon} title={t('alerts.nothingSent')}>
          {t('alerts.nothingSentAbout')}
        </EmptyState>
      ) : (
        <DataTable
          caption={t('alerts.log')}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
        />
      )}
      <LoadMore query={log} />
    </section>
  )
}

const looks = {
  delivered: { tone: 'good', icon: CheckIcon },
  waiting: { tone: 'neutral', icon: ClockIcon },
  failed: { tone: 'bad', icon: WarningIcon },
} as const

function useColumns(): readonly Column<DeliveryAnswer>[] {
  const { t, format } = useTranslation()
  const words = useAlertWords()
  return [
    {
      header: t('alerts.what'),
      isRowHeader: true,
      cell: ({ alert }) => (
        <div className={styles['alert']}>
          <span className="break">{words.whole(alert)}</span>
          <div className={styles['sub']}>{format.dateTime(alert.at)}</div>
        </div>
      ),
    },
    {
      header: t('alerts.address'),
      cell: ({ address }) => <div className={styles['address']}>{address}</div>,
    },
    { header: t('column.status'), cell: (row) => <DeliveryState row={row} /> },
    {
      header: t('requests.attempts'),
      align: 'end',
      cell: ({ attempts }) => format.number(attempts),
    },
    {
      header: t('alerts.result'),
      cell: ({ result, reason, values, next_attempt_at: next }) => (
        <>
          <span className="break">
            {result === null ? '–' : words.result({ result, reason, values })}
          </span>
          {next && (
            <div className={styles['sub']}>
              {t('alerts.nextAttempt', { moment: format.dateTime(next) })}
            </div>
          )}
        </>
      ),
    },
  ]
}

function DeliveryState({ row: { state } }: { readonly row: DeliveryAnswer }) {
  const { t } = useTranslation()
  return <StatusBadge {...looks[state]} word={t(`alerts.state.${state}`)} />
}
