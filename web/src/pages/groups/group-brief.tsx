// What the list of groups and the page of one share: the state, the menu, and what a change makes stale.
import { Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type GroupAnswer, groupRoutes } from '../../../../src/admin/contract/groups.ts'
import { call } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu, StatusBadge } from '../../parts/cells.tsx'
import { useChange } from '../../parts/changes.tsx'
import { ArchiveIcon, CheckIcon, GaugeIcon, WarningIcon } from '../../parts/icons.tsx'
import { toneOf } from '../../parts/meters.tsx'

export type GroupAction = 'archive' | 'top-up' | 'reset'

/** Queries that a change of a group makes stale: its keys, the frame above it, and the audit log. */
export const madeOldByGroup = [['groups'], ['keys'], ['frame'], ['audit']] as const

/** Activating needs no confirmation: it loses nothing. */
export function useActivate() {
  const { t } = useTranslation()
  return useChange(madeOldByGroup, {
    change: ({ id }: { readonly id: string }) =>
      call(groupRoutes.activateGroup, { params: { id } }),
    said: ({ name }) => t('groups.activated', { name }),
  })
}

const looks = {
  archived: { tone: 'neutral', icon: ArchiveIcon },
  exhausted: { tone: 'bad', icon: WarningIcon },
  high: { tone: 'warn', icon: GaugeIcon },
  active: { tone: 'good', icon: CheckIcon },
} as const

type GroupState = keyof typeof looks

/** By the tighter of its two budgets. */
export function stateOf({ status, limit, spent, held, window }: GroupAnswer): GroupState {
  if (status === 'archived') return 'archived'
  const tones = [
    ...(limit === null ? [] : [{ limit, spent, held }]),
    ...(window === null ? [] : [window]),
  ].map((budget) => toneOf(Number(budget.spent) + Number(budget.held), Number(budget.limit)))
  if (tones.includes('bad')) return 'exhausted'
  return tones.includes('warn') ? 'high' : 'active'
}

export function GroupStatus({ group }: { readonly group: GroupAnswer }) {
  const { t } = useTranslation()
  const state = stateOf(group)
  return (
    <StatusBadge
      {...looks[state]}
      word={t(`groups.state.${state}.word`)}
      explanation={t(`groups.state.${state}.why`)}
    />
  )
}

type GroupMenuProps = {
  readonly group: GroupAnswer
  readonly onAction: (action: GroupAction) => void
  /** On the group's own page some entries are beside the menu instead. */
  readonly isOnOwnPage?: boolean
}

export function GroupMenu({ group, onAction, isOnOwnPage = false }: GroupMenuProps) {
  const { t } = useTranslation()
  const { may } = useSession()
  const activate = useActivate()
  const { id, name, status, limit, window } = group
  const isManager = may('configuration:manage')
  if (isOnOwnPage && !isManager) return null
  return (
    <ActionMenu name={name}>
      {!isOnOwnPage && (
        <Menu.Item component={Link} to={`/settings/groups/${id}`}>
          {t('action.open')}
        </Menu.Item>
      )}
      {isManager && (
        <>
          {!isOnOwnPage && (
            <Menu.Item component={Link} to={`/settings/groups/${id}/edit`}>
              {t('action.edit')}
            </Menu.Item>
          )}
          {(limit !== null || window !== null) && (
            <Menu.Item onClick={() => onAction('top-up')}>{t('action.topUp')}</Menu.Item>
          )}
          <Menu.Item onClick={() => onAction('reset')}>{t('action.reset')}</Menu.Item>
          <Menu.Divider />
          {status === 'archived' ? (
            <Menu.Item onClick={() => activate.mutate({ id })}>{t('groups.activate')}</Menu.Item>
          ) : (
            <Menu.Item c="var(--tg-bad)" onClick={() => onAction('archive')}>
              {t('groups.archive')}
            </Menu.Item>
          )}
        </>
      )}
    </ActionMenu>
  )
}
