// The audit log of the key: every action and who took it, including refused attempts.
import { Group } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { auditRoutes } from '../../../../../src/admin/contract/audit.ts'
import { addressOf, call } from '../../../api.ts'
import { AuditLog } from '../../../audit/audit-log.tsx'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { CsvButton } from '../../../parts/csv-button.tsx'
import type { TabProps } from './requests-tab.tsx'

export function ActivityTab({ detail: { id } }: TabProps) {
  const { t } = useTranslation()
  const activity = useInfiniteQuery({
    queryKey: ['keys', 'activity', id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      call(auditRoutes.listKeyActivity, { params: { id }, query: { before }, signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const csv = addressOf(auditRoutes.exportAudit, { query: { subject: 'key', subject_id: id } })
  return (
    <>
      <Group justify="flex-end" mb="md">
        <CsvButton href={csv} name="activity.csv" />
      </Group>
      <AuditLog log={activity} none={{ title: t('audit.none'), about: t('audit.noneAbout') }} />
    </>
  )
}
