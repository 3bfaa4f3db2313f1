// One key: whether a call would pass now, how much of its budget and the frame's is spent, and everything else known
// about it.
import { Stack, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { KeyDetail } from '../../../../../src/admin/contract/key.ts'
import { ApiError } from '../../../api.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { dialogOnDemand, tabOnDemand } from '../../../parts/on-demand.tsx'
import { keyQuery } from '../../../queries.ts'
import { useSession } from '../../../session.ts'
import { NotFoundPage } from '../../not-found.tsx'
import type { KeyAction } from '../key-in-brief.ts'
import { Freshness } from '../freshness.tsx'
import { useRefreshKeys } from '../key-in-brief.ts'
import { ActivityTab } from './activity-tab.tsx'
import { Budgets } from './budgets.tsx'
import { DetailHeader } from './detail-header.tsx'
import { TABS } from './detail-search.ts'
import type { DetailSearch, Tab } from './detail-search.ts'
import { ModelsTab } from './models-tab.tsx'
import { RequestsTab } from './requests-tab.tsx'
import type { TabProps } from './requests-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { Verdict } from './verdict.tsx'
import styles from './detail.module.css'

const route = getRouteApi('/app/settings/api-access/$id/')

/** Its head, whether a call would pass, its budgets, and what is below its tabs. */
const partsPx = [67, 80, 316, 440]
const KeyDialogs = dialogOnDemand(
  async () => (await import('../dialogs/key-dialogs.tsx')).KeyDialogs,
)
const UsageTab = tabOnDemand(
  async () => (await import('./usage-tab.tsx')).UsageTab,
  <Loading lines={1} height={240} />,
)

export function DetailPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const key = useQuery(keyQuery(id))
  const refresh = useRefreshKeys()
  const isUnknown =
    !key.data && key.error instanceof ApiError && [400, 404].includes(key.error.status)
  if (isUnknown) return <NotFoundPage />
  if (key.error && !key.data)
    return (
      <ErrorAlert title={t('detail.failed')} error={key.error} onRetry={() => void key.refetch()} />
    )
  if (!key.data) return <Loading parts={partsPx} />
  return (
    <>
      {key.error && (
        <div className={styles['stale']}>
          <ErrorAlert
            title={t('overview.stale')}
            error={key.error}
            onRetry={() => void key.refetch()}
          />
        </div>
      )}
      <Detail
        detail={key.data}
        freshness={
          <Freshness
            asOf={new Date(key.dataUpdatedAt).toISOString()}
            onRefresh={() => void refresh()}
          />
        }
      />
    </>
  )
}

type DetailProps = { readonly detail: KeyDetail; readonly freshness: ReactNode }

function Detail({ detail, freshness }: DetailProps) {
  useNewFigures(detail)
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [action, setAction] = useState<KeyAction>()
  const change = (next: Partial<DetailSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  return (
    <>
      <DetailHeader
        detail={detail}
        model={search.model}
        freshness={freshness}
        onAction={setAction}
      />
      <Stack gap="lg">
        <Verdict detail={detail} search={search} onChange={change} />
        <Budgets detail={detail} />
        <DetailTabs detail={detail} search={search} onChange={change} />
      </Stack>
      {action && (
        <KeyDialogs
          action={action}
          keyInBrief={detail}
          onAction={setAction}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

/** Refreshes the lists below when the figures show a new call. */
function useNewFigures({ id, spent, last_used_at: lastUsedAt }: KeyDetail): void {
  const client = useQueryClient()
  const seen = useRef({ id, spent, lastUsedAt })
  useEffect(() => {
    const before = seen.current
    seen.current = { id, spent, lastUsedAt }
    if (before.id !== id || (before.spent === spent && before.lastUsedAt === lastUsedAt)) return
    for (const queryKey of [['usage'], ['keys', 'requests', id]])
      void client.invalidateQueries({ queryKey })
  }, [client, id, spent, lastUsedAt])
}

const permissions = {
  usage: 'usage:read',
  requests: 'requests:read',
  models: 'configuration:read',
  settings: 'configuration:read',
  activity: 'audit:read',
} as const satisfies Record<Tab, string>

function DetailTabs(props: TabProps) {
  const { search, onChange } = props
  const { t } = useTranslation()
  const { may } = useSession()
  const offered = TABS.filter((tab) => may(permissions[tab]))
  const shown = offered.find((tab) => tab === search.tab) ?? offered[0] ?? 'models'
  return (
    <Tabs
      value={shown}
      onChange={(value) => onChange({ tab: TABS.find((tab) => tab === value) })}
      keepMounted={false}
    >
      <Tabs.List aria-label={t('detail.tabs')}>
        {offered.map((tab) => (
          <Tabs.Tab key={tab} value={tab}>
            {t(`detail.tab.${tab}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={shown} pt="lg">
        <TabContent tab={shown} {...props} />
      </Tabs.Panel>
    </Tabs>
  )
}

function TabContent({ tab, ...props }: TabProps & { readonly tab: Tab }) {
  switch (tab) {
    case 'usage':
      return <UsageTab {...props} />
    case 'requests':
      return <RequestsTab {...props} />
    case 'models':
      return <ModelsTab {...props} />
    case 'settings':
      return <SettingsTab {...props} />
    case 'activity':
      return <ActivityTab {...props} />
  }
}
