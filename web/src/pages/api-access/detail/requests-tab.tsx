// The key's own requests, newest first.
import { NativeSelect } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { requestRoutes } from '../../../../../src/admin/contract/requests.ts'
import { call } from '../../../api.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { ListIcon } from '../../../parts/icons.tsx'
import { RequestDrawer } from '../../../requests/request-drawer.tsx'
import { RequestTable } from '../../../requests/request-table.tsx'
import type { TabProps } from './detail.tsx'
import styles from './detail.module.css'

const outcomes = ['ok', 'failed'] as const

export function RequestsTab({ detail, search, onChange }: TabProps) {
  const { t } = useTranslation()
  const { outcome } = search
  const requests = useInfiniteQuery({
    queryKey: ['keys', 'requests', detail.id, outcome],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      call(requestRoutes.listKeyRequests, {
        params: { id: detail.id },
        query: { outcome, before, limit: 25 },
        signal,
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const rows = requests.data?.pages.flatMap((page) => page.requests)
  return (
    <>
      <div className={styles['toolbar']}>
        <NativeSelect
          label={t('requests.outcome')}
          value={outcome ?? ''}
          onChange={({ currentTarget }) =>
            onChange({ outcome: outcomes.find((each) => each === currentTarget.value) })
          }
          data={[
            { value: '', label: t('filter.any') },
            ...outcomes.map((value) => ({ value, label: t(`requests.outcomes.${value}`) })),
          ]}
        />
        <span />
      </div>
      {requests.error && (
        <ErrorAlert
          title={t('requests.failed')}
          error={requests.error}
          onRetry={() => void requests.refetch()}
        />
      )}
      {rows?.length === 0 && !requests.hasNextPage ? (
        <div className="card">
          <EmptyState icon={<ListIcon size={22} />} title={t('requests.none')}>
            {t('requestsPage.noneAbout')}
          </EmptyState>
        </div>
      ) : (
        !requests.isError && (
          <RequestTable
            rows={rows}
            hasMore={requests.hasNextPage}
            isLoadingMore={requests.isFetchingNextPage}
            onMore={() => void requests.fetchNextPage()}
            onOpen={(open) => onChange({ open })}
          />
        )
      )}
      {search.open && (
        <RequestDrawer id={search.open} onClose={() => onChange({ open: undefined })} />
      )}
    </>
  )
}
