// The requests of all keys, newest first: which key called what, who answered, what it cost. Never the content.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { requestRoutes } from '../../../../src/admin/contract/usage.ts'
import { REQUEST_OUTCOMES, requestId, requestQueryOf } from '../../base/address.ts'
import type { AddressProps, RequestsSearch } from '../../base/address.ts'
import { call } from '../../base/api.ts'
import { groupsQuery, modelsQuery, pagesQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Choice, DayFilters, KeySelect, Toolbar, TypedFilter } from '../../parts/filters.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { RefusalTable } from './refusal-table.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import { RequestTable } from './request-table.tsx'

const route = getRouteApi('/app/settings/requests')

export function RequestsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<RequestsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const { outcome, model, group, ...query } = requestQueryOf(search)
  return (
    <>
      <PageHeader title={t('nav.requests')} about={t('requestsPage.about')} />
      <RequestFilters search={search} onChange={change} />
      {outcome === 'refused' ? (
        <RefusalTable query={{ ...query, group }} withKey />
      ) : (
        <AdmittedCalls query={{ ...query, outcome, model }} onOpen={(open) => change({ open })} />
      )}
      {search.open && (
        <RequestDrawer id={search.open} onClose={() => change({ open: undefined })} />
      )}
    </>
  )
}

type AdmittedCallsProps = {
  readonly query: Omit<ReturnType<typeof requestQueryOf>, 'outcome' | 'group'> & {
    readonly outcome: 'ok' | 'failed' | undefined
  }
  readonly onOpen: (id: string) => void
}

function AdmittedCalls({ query, onOpen }: AdmittedCallsProps) {
  const requests = useInfiniteQuery(
    pagesQuery(['requests', 'list', query], (before, signal) =>
      call(requestRoutes.listRequests, { query: { ...query, before, limit: 50 }, signal }),
    ),
  )
  return <RequestTable requests={requests} withKey onOpen={onOpen} />
}

function RequestFilters({ search, onChange }: AddressProps<RequestsSearch>) {
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
      {mayReadKeys && search.outcome === 'refused' && (
        <GroupChoice value={search.group} onChoose={(group) => onChange({ group })} />
      )}
      {search.outcome !== 'refused' && (
        <TypedFilter
          label={t('requests.model')}
          placeholder={t('filter.any')}
          value={search.model}
          suggestions={models.data?.map(({ id }) => id)}
          onChange={(model) => onChange({ model })}
        />
      )}
      <Choice
        label={t('requests.outcome')}
        value={search.outcome}
        values={REQUEST_OUTCOMES}
        wordOf={(outcome) => t(`requests.outcomes.${outcome}`)}
        none={t('requests.admitted')}
        onChoose={(outcome) => onChange({ outcome })}
      />
      <DayFilters search={search} onChange={onChange} />
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

type GroupChoiceProps = {
  readonly value: string | undefined
  readonly onChoose: (group: string | undefined) => void
}

/** Not shown where there is nothing to choose from. */
function GroupChoice({ value, onChoose }: GroupChoiceProps) {
  const { t } = useTranslation()
  const { data: groups = [] } = useQuery(groupsQuery)
  if (groups.length === 0) return null
  return (
    <Choice
      label={t('filter.group')}
      value={value}
      values={groups.map(({ id }) => id)}
      wordOf={(id) => groups.find((group) => group.id === id)?.name ?? id}
      onChoose={onChoose}
    />
  )
}
