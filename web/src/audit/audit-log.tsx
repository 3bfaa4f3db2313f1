// A log of changes, newest first, as far as it is loaded; or why there is none.
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { AuditEntryAnswer } from '../../../src/admin/contract/audit.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorAlert } from '../parts/error-alert.tsx'
import { HistoryIcon } from '../parts/icons.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loading } from '../parts/loading.tsx'
import { AuditList } from './audit-list.tsx'
import styles from './audit-list.module.css'

type Page = { readonly entries: readonly AuditEntryAnswer[] }

type AuditLogProps = {
  readonly log: UseInfiniteQueryResult<InfiniteData<Page>>
  /** Shown if there are no entries. */
  readonly none: { readonly title: string; readonly about: string }
  /** Name the subject of each entry, for logs that mix subjects. */
  readonly withSubject?: boolean
}

export function AuditLog({ log, none, withSubject }: AuditLogProps) {
  const { t } = useTranslation()
  const entries = log.data?.pages.flatMap((page) => page.entries)
  if (log.error && !entries)
    return (
      <ErrorAlert title={t('audit.failed')} error={log.error} onRetry={() => void log.refetch()} />
    )
  if (!entries) return <Loading lines={5} height={48} />
  return (
    <>
      <div className={`card ${styles['flush']}`}>
        {entries.length === 0 ? (
          <EmptyState icon={<HistoryIcon size={22} />} title={none.title}>
            {none.about}
          </EmptyState>
        ) : (
          <AuditList entries={entries} withSubject={withSubject} />
        )}
      </div>
      <LoadMore query={log} />
    </>
  )
}
