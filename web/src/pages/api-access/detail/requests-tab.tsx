// The key's own requests, newest first.
import { useInfiniteQuery } from '@tanstack/react-query'
import { requestRoutes } from '../../../../../src/admin/contract/requests.ts'
import { call } from '../../../api.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { Choice } from '../../../parts/choice.tsx'
import { Toolbar } from '../../../parts/toolbar.tsx'
import { RequestDrawer } from '../../../requests/request-drawer.tsx'
import { REQUEST_OUTCOMES } from '../../../requests/request-fields.ts'
import { RequestList } from '../../../requests/request-list.tsx'
import type { KeyDetail } from '../../../../../src/admin/contract/key.ts'
import type { DetailSearch } from './detail-search.ts'

export type TabProps = {
  readonly detail: KeyDetail
  readonly search: DetailSearch
  readonly onChange: (change: Partial<DetailSearch>) => void
}

export function RequestsTab({ detail: { id }, search: { outcome, open }, onChange }: TabProps) {
  const { t } = useTranslation()
  const requests = useInfiniteQuery({
    queryKey: ['keys', 'requests', id, outcome],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      call(requestRoutes.listKeyRequests, {
        params: { id },
        query: { outcome, before, limit: 25 },
        signal,
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  return (
    <>
      <Toolbar>
        <Choice
          label={t('requests.outcome')}
          value={outcome}
          values={REQUEST_OUTCOMES}
          wordOf={(each) => t(`requests.outcomes.${each}`)}
          onChoose={(each) => onChange({ outcome: each })}
        />
      </Toolbar>
      <RequestList requests={requests} onOpen={(request) => onChange({ open: request })} />
      {open && <RequestDrawer id={open} onClose={() => onChange({ open: undefined })} />}
    </>
  )
}
