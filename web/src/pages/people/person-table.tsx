// The people as a table, each with a menu of actions.
import { Menu } from '@mantine/core'
import type { PersonAnswer } from '../../../../src/admin/contract/people.ts'
import type { Translate } from '../../i18n/texts.ts'
import { useRoleName } from '../../i18n/use-role-name.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { BanIcon, CheckIcon, ClockIcon } from '../../parts/icons.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useSession } from '../../session.ts'
import { isDangerous } from './person-action-dialog.tsx'
import type { PersonAction } from './person-action-dialog.tsx'
import styles from './people.module.css'

type PersonTableProps = {
  readonly rows: readonly PersonAnswer[] | undefined
  readonly onEdit: (person: PersonAnswer) => void
  readonly onAction: (person: PersonAnswer, action: PersonAction) => void
}

export function PersonTable({ rows, onEdit, onAction }: PersonTableProps) {
  const { t } = useTranslation()
  const { person: self } = useSession()
  const columns: readonly Column<PersonAnswer>[] = [
    {
      id: 'name',
      header: t('people.name'),
      isRowHeader: true,
      card: 'title',
      cell: ({ id, name, email }) => (
        <>
          <span className={styles['name']}>
            {name || email} {id === self?.id && <small>{t('people.you')}</small>}
          </span>
          {name && name !== email && <div className={styles['sub']}>{email}</div>}
        </>
      ),
    },
    ...factColumns(t, useRoleName()),
    {
      id: 'menu',
      header: t('overview.actions'),
      hideHeader: true,
      align: 'end',
      card: 'corner',
      cell: (person) => (
        <PersonMenu
          person={person}
          onEdit={() => onEdit(person)}
          onAction={(action) => onAction(person, action)}
        />
      ),
    },
  ]
  return (
    <DataTable
      caption={t('people.caption')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      expectedLines={2}
    />
  )
}

function factColumns(
  t: Translate,
  roleName: (role: PersonAnswer['role']) => string,
): readonly Column<PersonAnswer>[] {
  return [
    { id: 'role', header: t('people.role'), cell: ({ role }) => roleName(role) },
    {
      id: 'status',
      header: t('column.status'),
      cell: ({ status }) => <PersonStatus status={status} />,
    },
    {
      id: 'two_factor',
      header: t('people.twoFactor'),
      cell: ({ two_factor: isOn }) => t(isOn ? 'people.on' : 'people.off'),
    },
    {
      id: 'last_seen',
      header: t('people.lastSeen'),
      cell: ({ last_seen_at: at }) => (at ? <Moment at={at} /> : t('never')),
    },
  ]
}

const looks = {
  active: { tone: 'good', icon: CheckIcon },
  invited: { tone: 'neutral', icon: ClockIcon },
  blocked: { tone: 'bad', icon: BanIcon },
} as const

function PersonStatus({ status }: Pick<PersonAnswer, 'status'>) {
  const { t } = useTranslation()
  const { tone, icon: Icon } = looks[status]
  return <StatusBadge tone={tone} icon={<Icon size={13} />} word={t(`people.status.${status}`)} />
}

type PersonMenuProps = {
  readonly person: PersonAnswer
  readonly onEdit: () => void
  readonly onAction: (action: PersonAction) => void
}

function PersonMenu({ person, onEdit, onAction }: PersonMenuProps) {
  const { t } = useTranslation()
  return (
    <ActionMenu name={person.name || person.email}>
      <Menu.Item onClick={onEdit}>{t('people.edit')}</Menu.Item>
      {actionsFor(person).map((action) => (
        <Menu.Item
          key={action}
          c={isDangerous[action] ? 'var(--tg-bad)' : undefined}
          onClick={() => onAction(action)}
        >
          {t(`people.action.${action}.label`)}
        </Menu.Item>
      ))}
    </ActionMenu>
  )
}

function actionsFor(person: PersonAnswer): readonly PersonAction[] {
  const { status, two_factor: hasCodes, has_identity: isLinked } = person
  if (status === 'invited') return ['invite', 'remove']
  return [
    'password',
    ...(hasCodes ? (['twoFactor'] as const) : []),
    ...(isLinked ? (['unlink'] as const) : []),
    'signOut',
    status === 'blocked' ? 'unblock' : 'block',
    'remove',
  ]
}
