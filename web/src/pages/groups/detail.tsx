// One group: how much of its budgets is spent, the keys that spend it, who belongs to it, and its settings.
import { Button, Stack, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { GroupDetail } from '../../../../src/admin/contract/groups.ts'
import { GROUP_TABS, type GroupSearch, type GroupTab } from '../../base/address.ts'
import { ApiError } from '../../base/api.ts'
import { groupQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { BudgetBar, BudgetBars, FurtherBar } from '../../parts/budget-bars.tsx'
import { Allocated, Forecast, Resets } from '../../parts/budgets.tsx'
import { frameTicks } from '../../parts/meters.tsx'
import { Loading, Notice, QueryError } from '../../parts/notices.tsx'
import { dialogOnDemand, tabOnDemand } from '../../parts/on-demand.tsx'
import { inSight, PageHeader } from '../../parts/page-header.tsx'
import { PastPeriodTable } from '../frame/past-periods.tsx'
import { NotFoundPage } from '../errors.tsx'
import { type GroupAction, GroupMenu, GroupStatus, stateOf, useActivate } from './group-brief.tsx'
import { ActivityTab, KeysTab, SettingsTab, type TabProps } from './tabs.tsx'

const GroupDialogs = dialogOnDemand(async () => (await import('./group-dialogs.tsx')).GroupDialogs)

const UsageTab = tabOnDemand(
  async () => (await import('./usage-tab.tsx')).UsageTab,
  <Loading lines={1} height={240} />,
)

const MembersTab = tabOnDemand(
  async () => (await import('./members-tab.tsx')).MembersTab,
  <Loading lines={3} height={48} />,
)

const route = getRouteApi('/app/settings/groups/$id/')

/** Its head, its budgets, and what is below its tabs. */
const partsPx = [67, 200, 440]

export function GroupPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const group = useQuery(groupQuery(id))
  const [action, setAction] = useState<GroupAction>()
  const { data, error } = group
  if (!data && error instanceof ApiError && error.status === 404) return <NotFoundPage />
  if (!data && error) return <QueryError title={t('group.failed')} query={group} />
  if (!data) return <Loading parts={partsPx} />
  return (
    <>
      <GroupHeader group={data} onAction={setAction} />
      <Stack gap="lg">
        <QueryError title={t('overview.stale')} query={group} />
        <Notices group={data} />
        <Budgets group={data} />
        <PastPeriodTable periods={data.history} timezone={data.timezone} />
        <GroupTabs group={data} />
      </Stack>
      {action && <GroupDialogs action={action} group={data} onClose={() => setAction(undefined)} />}
    </>
  )
}

type GroupProps = { readonly group: GroupDetail }
type GroupHeaderProps = GroupProps & { readonly onAction: (action: GroupAction) => void }

function GroupHeader({ group, onAction }: GroupHeaderProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  return (
    <PageHeader
      title={group.name}
      beside={<GroupStatus group={group} />}
      about={group.description}
      actions={
        may('configuration:manage') && (
          <>
            <Button component={Link} to={`/settings/groups/${group.id}/edit`} data-shortcut="e">
              {t('action.edit')}
            </Button>
            <GroupMenu group={group} onAction={onAction} isOnOwnPage />
          </>
        )
      }
    />
  )
}

/** What stops its keys, whatever their own settings say. */
function Notices({ group }: GroupProps) {
  const { t, format } = useTranslation()
  const { may } = useSession()
  const activate = useActivate()
  const { id, status, keys_without_models: silent } = group
  return (
    <>
      {status === 'archived' && (
        <Notice
          tone="warn"
          title={t('group.archived')}
          actions={
            may('configuration:manage') && (
              <Button
                size="compact-sm"
                variant="default"
                loading={activate.isPending}
                onClick={() => activate.mutate({ id })}
              >
                {t('groups.activate')}
              </Button>
            )
          }
        >
          {t('group.archivedAbout')}
        </Notice>
      )}
      {stateOf(group) === 'exhausted' && <Notice tone="bad" title={t('group.exhausted')} />}
      {silent.length > 0 && (
        <Notice tone="warn" title={t('group.silentKeys', { count: silent.length })}>
          <span className="break">{format.list(silent)}</span>
        </Notice>
      )}
    </>
  )
}

function Budgets({ group }: GroupProps) {
  const { t } = useTranslation()
  const { window, timezone } = group
  return (
    <BudgetBars label={t('group.budgets')}>
      <BudgetBar
        title={t('group.budget')}
        budget={group}
        noLimit={t('group.noLimit')}
        ticks={frameTicks}
      >
        <Resets budget={group} />
        {stateOf(group) !== 'exhausted' && <Forecast budget={group} />}
        <Allocated budget={group} of="group" />
      </BudgetBar>
      {window && <FurtherBar title={t('groups.window')} budget={window} timezone={timezone} />}
    </BudgetBars>
  )
}

const tabs = {
  keys: { Content: KeysTab, permission: 'configuration:read' },
  usage: { Content: UsageTab, permission: 'usage:read' },
  members: { Content: MembersTab, permission: 'configuration:read' },
  settings: { Content: SettingsTab, permission: 'configuration:read' },
  activity: { Content: ActivityTab, permission: 'audit:read' },
} as const satisfies Record<GroupTab, object>

function GroupTabs({ group }: GroupProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change: TabProps['onChange'] = (next: Partial<GroupSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true })
  const offered = GROUP_TABS.filter((tab) => may(tabs[tab].permission))
  const shown = offered.find((tab) => tab === search.tab) ?? 'keys'
  const { Content } = tabs[shown]
  return (
    <Tabs
      value={shown}
      onChange={(value) => change({ tab: GROUP_TABS.find((tab) => tab === value) })}
      keepMounted={false}
    >
      <Tabs.List aria-label={t('group.tabs')}>
        {offered.map((tab) => (
          <Tabs.Tab key={tab} ref={tab === shown ? inSight : undefined} value={tab}>
            {t(`group.tab.${tab}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={shown} pt="lg">
        <Content group={group} search={search} onChange={change} />
      </Tabs.Panel>
    </Tabs>
  )
}
