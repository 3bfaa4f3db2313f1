// Requests, newest first, as far as they are loaded; or why there are none.
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { RequestRow } from '../../../src/admin/contract/requests.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorAlert } from '../parts/error-alert.tsx'
import { ListIcon } from '../parts/icons.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { RequestTable } from './request-table.tsx'

type Page = { readonly requests: readonly RequestRow[] }

type RequestListProps = {
  readonly requests: UseInfiniteQueryResult<InfiniteData<Page>>
  /** Name the key of each request. */
  readonly withKey?: boolean
  readonly onOpen: (id: string) => void
}

export function RequestList({ requests, withKey, onOpen }: RequestListProps) {
  const { t } = useTranslation()
  const rows = requests.data?.pages.flatMap((page) => page.requests)
  if (requests.error && !rows)
    return (
      <ErrorAlert
        title={t('requests.failed')}
        error={requests.error}
        onRetry={() => void requests.refetch()}
      />
    )
  if (rows?.length === 0 && !requests.hasNextPage)
    return (
      <div className="card">
        <EmptyState icon={<ListIcon size={22} />} title={t('requests.none')}>
          {t('requestsPage.noneAbout')}
        </EmptyState>
      </div>
    )
  return (
    <>
      <RequestTable rows={rows} withKey={withKey} onOpen={onOpen} />
      <LoadMore query={requests} />
    </>
  )
}
