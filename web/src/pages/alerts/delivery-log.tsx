// The alerts that were sent, to whom, and with what result.
import { useInfiniteQuery } from '@tanstack/react-query'
import { alertRoutes, type DeliveryAnswer } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../base/api.ts'
import { every, pagesQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { StatusBadge } from '../../parts/cells.tsx'
import { type Column, QueryTable } from '../../parts/data-table.tsx'
import { CheckIcon, ClockIcon, ListIcon, WarningIcon } from '../../parts/icons.tsx'
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
  return (
    <section>
      <div className={styles['head']}>
        <h2>{t('alerts.log')}</h2>
      </div>
      <QueryTable
        caption={t('alerts.log')}
        columns={columns}
        rows={log.data?.pages.flatMap((page) => page.deliveries)}
        query={log}
        failed={t('alerts.failed')}
        none={{
          icon: ListIcon,
          title: t('alerts.nothingSent'),
          about: t('alerts.nothingSentAbout'),
        }}
      />
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
          <div className="sub">{format.dateTime(alert.at)}</div>
        </div>
      ),
    },
    {
      header: t('alerts.destination'),
      cell: ({ destination_name: name, address }) => (
        <div className={styles['address']}>
          {name ?? address}
          {name && name !== address && <div className="sub">{address}</div>}
        </div>
      ),
    },
    {
      header: t('column.status'),
      cell: ({ state }) => <StatusBadge {...looks[state]} word={t(`alerts.state.${state}`)} />,
    },
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
            <div className="sub">{t('alerts.nextAttempt', { moment: format.dateTime(next) })}</div>
          )}
        </>
      ),
    },
  ]
}
