// The keys that spend most of the frame in this period: one bar each, all relative to the frame's limit.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { KeyRow } from '../../../../src/admin/contract/key.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { KeyIcon } from '../../parts/icons.tsx'
import { Meter } from '../../parts/meter.tsx'
import { useMoneyColumn } from '../../parts/money-column.tsx'
import { keysQuery } from '../../queries.ts'
import styles from './frame.module.css'

const shownMax = 10

export function Spenders() {
  const { t } = useTranslation()
  const keys = useQuery(
    // Revoked keys too: after ending a runaway key, people look here for what it spent.
    keysQuery({ sort: 'share', order: 'desc', page: 1, per_page: shownMax }),
  )
  const spenders = keys.data?.keys.filter(
    ({ state, frame_share: share }) => state !== 'revoked' || share > 0,
  )
  const budget = useMoneyColumn(spenders?.map(({ limit }) => limit))
  const cost = useMoneyColumn(spenders?.map(({ cost_7d: { total } }) => total))
  const columns: readonly Column<KeyRow>[] = [
    {
      id: 'name',
      header: t('column.name'),
      isRowHeader: true,
      card: 'title',
      cell: ({ id, name, state }) => (
        <>
          <Link className="break" to="/settings/api-access/$id" params={{ id }}>
            {name}
          </Link>
          {state === 'revoked' && <div className={styles['sub']}>{t('keyState.revoked.word')}</div>}
        </>
      ),
    },
    {
      id: 'share',
      header: t('framePage.share'),
      cell: (row) => <Share row={row} />,
    },
    {
      id: 'budget',
      header: t('framePage.ownBudget'),
      align: 'end',
      cell: ({ limit }) => (limit === null ? t('budget.noOwnLimit') : budget(limit)),
    },
    {
      id: 'cost',
      header: t('column.cost'),
      align: 'end',
      cell: ({ cost_7d: { total } }) => cost(total),
    },
  ]
  return (
    <section>
      <h2 className={styles['heading']}>{t('framePage.spenders')}</h2>
      {keys.error && !keys.data ? (
        <ErrorAlert
          title={t('overview.failed')}
          error={keys.error}
          onRetry={() => void keys.refetch()}
        />
      ) : spenders?.length === 0 ? (
        <div className="card">
          <EmptyState icon={<KeyIcon size={22} />} title={t('overview.none')} />
        </div>
      ) : (
        <DataTable
          caption={t('framePage.spenders')}
          columns={columns}
          rows={spenders}
          rowKey={({ id }) => id}
        />
      )}
    </section>
  )
}

function Share({ row: { name, frame_share: share } }: { readonly row: KeyRow }) {
  const { t } = useTranslation()
  const format = useFormat()
  const percent = format.percent(share)
  return (
    <div className={styles['share']}>
      <span>{percent}</span>
      <Meter
        label={t('budget.partOfFrame', { name })}
        valueText={t('budget.share', { percent })}
        max={1}
        segments={[{ kind: 'spent', value: share }]}
        tone="calm"
        height={6}
      />
    </div>
  )
}
