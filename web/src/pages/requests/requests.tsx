// The requests of all keys, newest first: which key called what, who answered, what it cost. Never the content.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { requestRoutes } from '../../../../src/admin/contract/requests.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { Choice } from '../../parts/choice.tsx'
import { DayFilter } from '../../parts/day-filter.tsx'
import { KeySelect } from '../../parts/key-select.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { TypedFilter } from '../../parts/typed-filter.tsx'
import { modelsQuery } from '../../queries.ts'
import { RequestDrawer } from '../../requests/request-drawer.tsx'
import { REQUEST_OUTCOMES, requestId } from '../../requests/request-fields.ts'
import { RequestList } from '../../requests/request-list.tsx'
import { useSession } from '../../session.ts'
import { requestQueryOf } from './requests-search.ts'
import type { RequestsSearch } from './requests-search.ts'

const route = getRouteApi('/app/settings/requests')

export function RequestsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<RequestsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  return (
    <>
      <PageHeader title={t('nav.requests')} about={t('requestsPage.about')} />
      <RequestFilters search={search} onChange={change} />
      <AllRequests search={search} onOpen={(open) => change({ open })} />
      {search.open && (
        <RequestDrawer id={search.open} onClose={() => change({ open: undefined })} />
      )}
    </>
  )
}

type RequestFiltersProps = {
  readonly search: RequestsSearch
  readonly onChange: (change: Partial<RequestsSearch>) => void
}

function RequestFilters({ search, onChange }: RequestFiltersProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const mayReadKeys = may('configuration:read')
  const models = useQuery({ ...modelsQuery, enabled: mayReadKeys })
  return (
    <Toolbar>
      {mayReadKeys && (
        <KeySelect
          label={t('requests.key')}
          value={search.key}
          onChange={(key) => onChange({ key })}
        />
      )}
      <TypedFilter
        label={t('requests.model')}
        placeholder={t('filter.any')}
        value={search.model}
        suggestions={models.data?.map(({ id }) => id)}
        onChange={(model) => onChange({ model })}
      />
      <Choice
        label={t('requests.outcome')}
        value={search.outcome}
        values={REQUEST_OUTCOMES}
        wordOf={(outcome) => t(`requests.outcomes.${outcome}`)}
        onChoose={(outcome) => onChange({ outcome })}
      />
      <DayFilter
        label={t('filter.from')}
        value={search.from}
        onChange={(from) => onChange({ from })}
      />
      <DayFilter label={t('filter.to')} value={search.to} onChange={(to) => onChange({ to })} />
      <TypedFilter
        label={t('requests.id')}
        placeholder="req_…"
        value={search.open}
        onChange={(id) => {
          const { data: open } = requestId.safeParse(id)
          if (id === undefined || open !== undefined) onChange({ open })
        }}
      />
    </Toolbar>
  )
}

type AllRequestsProps = {
  readonly search: RequestsSearch
  readonly onOpen: (id: string) => void
}

function AllRequests({ search, onOpen }: AllRequestsProps) {
  const query = requestQueryOf(search)
  const requests = useInfiniteQuery({
    queryKey: ['requests', 'list', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) =>
      call(requestRoutes.listRequests, { query: { ...query, before, limit: 50 }, signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  return <RequestList requests={requests} withKey onOpen={onOpen} />
}
