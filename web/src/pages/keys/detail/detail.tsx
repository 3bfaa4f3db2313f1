// One key: whether a call would pass now, how much of its budget and the frame's is spent, and everything else known
// about it.
import { Button, Stack, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { KeyDetail } from '../../../../../src/admin/contract/keys.ts'
import { type DetailSearch, type Tab, TABS } from '../../../base/address.ts'
import { ApiError } from '../../../base/api.ts'
import { keyQuery, limitsQuery } from '../../../base/queries.ts'
import { useSession } from '../../../base/session.ts'
import { useNow } from '../../../i18n/format.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { PlayIcon, RotateIcon } from '../../../parts/icons.tsx'
import { Loading, Notice, QueryError } from '../../../parts/notices.tsx'
import { dialogOnDemand, tabOnDemand } from '../../../parts/on-demand.tsx'
import { inSight, PageHeader } from '../../../parts/page-header.tsx'
import { NotFoundPage } from '../../errors.tsx'
import { Freshness, type KeyAction, KeyMenu, KeyStatus } from '../key-brief.tsx'
import { useMayResume, useResume } from '../key-brief.tsx'
import { useKeyFacts, useRefreshKeys } from '../key-words.ts'
import { Budgets } from './budgets.tsx'
import styles from './detail.module.css'
import { ActivityTab, ModelsTab, RequestsTab, SettingsTab, type TabProps } from './tabs.tsx'
import { Verdict } from './verdict.tsx'

const route = getRouteApi('/app/settings/api-access/$id/')

/** Its head, whether a call would pass, its budgets, and what is below its tabs. */
const partsPx = [67, 80, 316, 440]
const KeyDialogs = dialogOnDemand(async () => (await import('../key-dialogs.tsx')).KeyDialogs)
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
  if (key.error && !key.data) return <QueryError title={t('detail.failed')} query={key} />
  if (!key.data) return <Loading parts={partsPx} />
  return (
    <>
      {key.error && (
        <div className={styles['stale']}>
          <QueryError title={t('overview.stale')} query={key} />
        </div>
      )}
      <Detail
        detail={key.data}
        freshness={
          <Freshness
            asOf={new Date(key.dataUpdatedAt).toISOString()}
            isStale={key.isError}
            onRefresh={() => void refresh()}
          />
        }
      />
    </>
  )
}

function Detail({ detail, freshness }: Pick<DetailHeaderProps, 'detail' | 'freshness'>) {
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

const tabs = {
  usage: { Content: UsageTab, permission: 'usage:read' },
  requests: { Content: RequestsTab, permission: 'requests:read' },
  models: { Content: ModelsTab, permission: 'configuration:read' },
  settings: { Content: SettingsTab, permission: 'configuration:read' },
  activity: { Content: ActivityTab, permission: 'audit:read' },
} as const satisfies Record<Tab, object>

function DetailTabs(props: TabProps) {
  const { search, onChange } = props
  const { t } = useTranslation()
  const { may } = useSession()
  const offered = TABS.filter((tab) => may(tabs[tab].permission))
  const shown = offered.find((tab) => tab === search.tab) ?? offered[0] ?? 'models'
  const { Content } = tabs[shown]
  return (
    <Tabs
      value={shown}
      onChange={(value) => onChange({ tab: TABS.find((tab) => tab === value) })}
      keepMounted={false}
    >
      <Tabs.List aria-label={t('detail.tabs')}>
        {offered.map((tab) => (
          <Tabs.Tab key={tab} ref={tab === shown ? inSight : undefined} value={tab}>
            {t(`detail.tab.${tab}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={shown} pt="lg">
        <Content {...props} />
      </Tabs.Panel>
    </Tabs>
  )
}

type DetailHeaderProps = {
  readonly detail: KeyDetail
  /** The model the verdict below is for. */
  readonly model: string | undefined
  /** How old the figures are. */
  readonly freshness: ReactNode
  readonly onAction: (action: KeyAction) => void
}

/** The header of a key's page: its name and state, the visible part of its secrets, and its actions. */
function DetailHeader({ detail, model, freshness, onAction }: DetailHeaderProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const mayResume = useMayResume()
  const limits = useQuery(limitsQuery(detail.id, model))
  const facts = useKeyFacts()(detail)
  const isManager = may('configuration:manage')
  return (
    <PageHeader
      title={detail.name}
      beside={<KeyStatus keyInBrief={detail} isRefusing={limits.data?.passes === false} />}
      about={
        <>
          <code>{detail.masked}</code> {facts && `· ${facts}`} {freshness}
        </>
      }
      below={
        <>
          {detail.status === 'paused' && !mayResume(detail) && (
            <Notice tone="warn">{t('myKeys.pausedByManager')}</Notice>
          )}
          {detail.old_secret && (
            <TwoSecrets
              detail={detail}
              old={detail.old_secret}
              onAction={isManager ? onAction : undefined}
            />
          )}
        </>
      }
      actions={
        <>
          {isManager && detail.status !== 'revoked' && (
            <ManagerButtons detail={detail} onAction={onAction} />
          )}
          <KeyMenu keyInBrief={detail} onAction={onAction} isOnOwnPage />
        </>
      }
    />
  )
}

function ManagerButtons({ detail, onAction }: Pick<DetailHeaderProps, 'detail' | 'onAction'>) {
  const { t } = useTranslation()
  const resume = useResume()
  const isResumable = useMayResume()(detail)
  return (
    <>
      {isResumable && (
        <Button loading={resume.isPending} onClick={() => resume.mutate({ id: detail.id })}>
          {t('action.resume')}
        </Button>
      )}
      <Button variant="default" leftSection={<PlayIcon />} onClick={() => onAction('test')}>
        {t('action.test')}
      </Button>
      <Button variant="default" leftSection={<RotateIcon />} onClick={() => onAction('rotate')}>
        {t('action.rotate')}
      </Button>
      <Button
        component={Link}
        to={`/settings/api-access/${detail.id}/edit`}
        variant={isResumable ? 'default' : 'filled'}
        data-shortcut="e"
      >
        {t('action.edit')}
      </Button>
    </>
  )
}

type TwoSecretsProps = Pick<DetailHeaderProps, 'detail'> & {
  readonly old: NonNullable<KeyDetail['old_secret']>
  readonly onAction: ((action: KeyAction) => void) | undefined
}

/** Shows when each secret was last used: an old one that is no longer used can be ended. */
function TwoSecrets({ detail, old, onAction }: TwoSecretsProps) {
  const { t, format } = useTranslation()
  return (
    <dl className={styles['secrets']}>
      <div>
        <dt>{t('detail.newSecret')}</dt>
        <dd>
          <code>{detail.masked}</code>{' '}
          <LastUse at={detail.secret_last_used_at} never={t('detail.newSecretUnused')} />
        </dd>
      </div>
      <div>
        <dt>{t('detail.oldSecret')}</dt>
        <dd>
          <code>{old.masked}</code>{' '}
          <LastUse at={old.last_used_at} never={t('detail.oldSecretUnused')} />{' '}
          <span>{t('detail.oldSecretUntil', { moment: format.dateTime(old.valid_until) })}</span>
        </dd>
        {onAction && (
          <dd>
            <Button size="compact-xs" variant="default" onClick={() => onAction('end-overlap')}>
              {t('detail.endNow')}
            </Button>
          </dd>
        )}
      </div>
    </dl>
  )
}

function LastUse({ at, never }: { readonly at: string | null; readonly never: string }) {
  const { t, format } = useTranslation()
  const now = useNow()
  return (
    <span>{at === null ? never : t('detail.secretUsed', { when: format.relative(at, now) })}</span>
  )
}
