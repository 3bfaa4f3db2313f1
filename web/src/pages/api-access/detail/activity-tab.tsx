// The audit log of the key: every action and who took it, including refused attempts.
import { Button, Group } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { auditRoutes } from '../../../../../src/admin/contract/audit.ts'
import { addressOf, call } from '../../../api.ts'
import { AuditList } from '../../../audit/audit-list.tsx'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { EmptyState } from '../../../parts/empty-state.tsx'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { DownloadIcon, HistoryIcon } from '../../../parts/icons.tsx'
import { Loading } from '../../../parts/loading.tsx'
import type { TabProps } from './detail.tsx'
import styles from './detail.module.css'

export function ActivityTab({ detail }: TabProps) {
  const { t } = useTranslation()
  const activity = useInfiniteQuery({
    queryKey: ['keys', 'activity', detail.id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      call(auditRoutes.listKeyActivity, { params: { id: detail.id }, query: { before }, signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const entries = activity.data?.pages.flatMap((page) => page.entries) ?? []
  return (
    <>
      <div className={styles['toolbar']}>
        <Button
          component="a"
          href={addressOf(auditRoutes.exportAudit, {
            query: { subject: 'key', subject_id: detail.id },
          })}
          download="activity.csv"
          variant="default"
          leftSection={<DownloadIcon />}
        >
          {t('overview.export')}
        </Button>
      </div>
      {activity.isPending && <Loading lines={5} height={48} />}
      {activity.error && (
        <ErrorAlert
          title={t('audit.failed')}
          error={activity.error}
          onRetry={() => void activity.refetch()}
        />
      )}
      {activity.isSuccess && (
        <div className={`card ${styles['flush']}`}>
          {entries.length === 0 ? (
            <EmptyState icon={<HistoryIcon size={22} />} title={t('audit.none')}>
              {t('audit.noneAbout')}
            </EmptyState>
          ) : (
            <AuditList entries={entries} />
          )}
        </div>
      )}
      {activity.hasNextPage && (
        <Group justify="center" mt="md">
          <Button
            variant="default"
            loading={activity.isFetchingNextPage}
            onClick={() => void activity.fetchNextPage()}
          >
            {t('requests.more')}
          </Button>
        </Group>
      )}
    </>
  )
}
