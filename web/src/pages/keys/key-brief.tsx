// What the list of keys and the page of one share: its state, its menu, and how old the figures are.
import { Button, Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { KeyState } from '../../../../src/admin/contract/keys.ts'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import { isSame } from '../../base/amounts.ts'
import { call } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu, StatusBadge, type Tone } from '../../parts/cells.tsx'
import { showToast, useChange } from '../../parts/changes.tsx'
import { copyText } from '../../parts/copy.tsx'
import {
  ArchiveIcon,
  BanIcon,
  CheckIcon,
  ClockIcon,
  GaugeIcon,
  type Icon,
  PauseIcon,
  RotateIcon,
  WarningIcon,
} from '../../parts/icons.tsx'
import { type KeyInBrief, madeOldByKey } from './key-words.ts'

export type KeyAction = 'pause' | 'revoke' | 'rotate' | 'end-overlap' | 'top-up' | 'reset' | 'test'

/** Resuming needs no confirmation: it loses nothing. */
export function useResume() {
  const { t } = useTranslation()
  return useChange(madeOldByKey, {
    change: ({ id }: { readonly id: string }) => call(keyRoutes.resumeKey, { params: { id } }),
    said: ({ name }) => t('resume.done', { name }),
  })
}

/** Members do not undo what those did who manage the group. */
export function useMayResume(): (key: KeyInBrief) => boolean {
  const { mayWithin } = useSession()
  return ({ status, group, paused_by: pausedBy }) =>
    status === 'paused' && (pausedBy === 'owner' || mayWithin('configuration:manage', group?.id))
}

type KeyStatusProps = {
  readonly keyInBrief: KeyInBrief
  /** The gateway would refuse a call now, whatever the key's own state says. */
  readonly isRefusing?: boolean
}

type Shown = KeyState | 'group_archived' | 'refusing' | 'refused'

const looks: Readonly<Record<Shown, { readonly tone: Tone; readonly icon: Icon }>> = {
  revoked: { tone: 'bad', icon: BanIcon },
  expired: { tone: 'bad', icon: ClockIcon },
  paused: { tone: 'neutral', icon: PauseIcon },
  frame_exhausted: { tone: 'bad', icon: WarningIcon },
  group_exhausted: { tone: 'bad', icon: WarningIcon },
  budget_exhausted: { tone: 'bad', icon: WarningIcon },
  rotating: { tone: 'warn', icon: RotateIcon },
  expires_soon: { tone: 'warn', icon: ClockIcon },
  budget_high: { tone: 'warn', icon: GaugeIcon },
  active: { tone: 'good', icon: CheckIcon },
  group_archived: { tone: 'bad', icon: ArchiveIcon },
  refusing: { tone: 'bad', icon: BanIcon },
  refused: { tone: 'bad', icon: BanIcon },
}

/** States that do not by themselves decide whether calls pass. */
const open: readonly KeyState[] = ['rotating', 'expires_soon', 'budget_high', 'active']

/** The state of a key as a badge: icon and word, with the reason and the next step in a tooltip. */
export function KeyStatus({ keyInBrief, isRefusing = false }: KeyStatusProps) {
  const { expires_at: expiresAt, resets_at: resetsAt, old_secret: oldSecret } = keyInBrief
  const { window, remaining, refused_with: refusedWith } = keyInBrief
  const { t, format, find } = useTranslation()
  const state = shownState(keyInBrief, isRefusing)
  const moments: Partial<Record<Shown, string | null | undefined>> = {
    expired: expiresAt,
    budget_exhausted: remaining !== null && isSame(remaining, '0') ? resetsAt : window?.resets_at,
    rotating: oldSecret?.valid_until ?? null,
    expires_soon: expiresAt,
    budget_high: resetsAt,
  }
  const moment = moments[state]
  return (
    <StatusBadge
      {...looks[state]}
      word={t(`keyState.${state}.word`)}
      explanation={t(`keyState.${state}.why`, {
        moment: moment ? format.exactTime(moment) : t('keyState.noMoment'),
        reason: find(`callError.${refusedWith}`) ?? refusedWith ?? '',
      })}
    />
  )
}

/** What stops its calls from outside the key shows only where the key itself would let them through. */
function shownState(key: KeyInBrief, isRefusing: boolean): Shown {
  const { state, group, refused_with: refusedWith } = key
  if (!open.includes(state)) return state
  if (group?.status === 'archived') return 'group_archived'
  if (isRefusing) return 'refusing'
  return refusedWith === null ? state : 'refused'
}

type KeyMenuProps = {
  readonly keyInBrief: KeyInBrief
  readonly onAction: (action: KeyAction) => void
  /** On the key's own page some actions are beside the menu instead. */
  readonly isOnOwnPage?: boolean
}

/** The actions on a key: only those that its state allows and the reader may take. */
export function KeyMenu({ keyInBrief, onAction, isOnOwnPage = false }: KeyMenuProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const { id, name } = keyInBrief
  const copyId = async () => {
    const copied = await copyText(id)
    showToast(copied ? t('copy.copied') : id)
  }
  return (
    <ActionMenu name={name}>
      {!isOnOwnPage && (
        <Menu.Item component={Link} to={`/settings/api-access/${id}`}>
          {t('action.open')}
        </Menu.Item>
      )}
      <Menu.Item onClick={() => void copyId()}>{t('action.copyId')}</Menu.Item>
      {may('configuration:manage') && (
        <ManagerItems keyInBrief={keyInBrief} onAction={onAction} isOnOwnPage={isOnOwnPage} />
      )}
    </ActionMenu>
  )
}

function ManagerItems({ keyInBrief, onAction, isOnOwnPage }: KeyMenuProps) {
  const { t } = useTranslation()
  const { mayWithin } = useSession()
  const resume = useResume()
  const mayResume = useMayResume()
  const { id, status, limit, group } = keyInBrief
  const isLive = status !== 'revoked'
  // Members do not decide on what is spent.
  const isManager = mayWithin('configuration:manage', group?.id)
  return (
    <>
      <Menu.Item component={Link} to={`/settings/api-access/new?from=${id}`}>
        {t('action.duplicate')}
      </Menu.Item>
      {isLive && !isOnOwnPage && (
        <>
          <Menu.Item component={Link} to={`/settings/api-access/${id}/edit`}>
            {t('action.edit')}
          </Menu.Item>
          <Menu.Item onClick={() => onAction('test')}>{t('action.test')}</Menu.Item>
          <Menu.Item onClick={() => onAction('rotate')}>{t('action.rotate')}</Menu.Item>
        </>
      )}
      {isLive && isManager && limit !== null && (
        <Menu.Item onClick={() => onAction('top-up')}>{t('action.topUp')}</Menu.Item>
      )}
      {isLive && isManager && (
        <Menu.Item onClick={() => onAction('reset')}>{t('action.reset')}</Menu.Item>
      )}
      {mayResume(keyInBrief) && (
        <Menu.Item onClick={() => resume.mutate({ id })}>{t('action.resume')}</Menu.Item>
      )}
      {status === 'active' && (
        <Menu.Item onClick={() => onAction('pause')}>{t('action.pause')}</Menu.Item>
      )}
      {isLive && (
        <>
          <Menu.Divider />
          <Menu.Item c="var(--tg-bad)" onClick={() => onAction('revoke')}>
            {t('action.revoke')}
          </Menu.Item>
        </>
      )}
    </>
  )
}

type FreshnessProps = {
  readonly asOf: string
  readonly isFetching?: boolean
  /** Newer ones could not be loaded. */
  readonly isStale: boolean
  readonly onRefresh: () => void
}

/** The age of the figures, as a button that refreshes them. */
export function Freshness({ asOf, isFetching, isStale, onRefresh }: FreshnessProps) {
  const { t, format } = useTranslation()
  const now = useNow()
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      fw={400}
      c="dimmed"
      leftSection={<RotateIcon size={14} />}
      onClick={onRefresh}
      disabled={isFetching}
    >
      {isStale
        ? t('overview.outOfDate', { moment: format.dateTime(asOf) })
        : t('overview.updated', { when: format.relative(asOf, Math.max(now, Date.parse(asOf))) })}
      <span className="visually-hidden">. {t('overview.refresh')}</span>
    </Button>
  )
}
