// Everyone who may sign in: invite, change the role, help with a lost password or authenticator, sign out, block,
// remove.
import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { sessionQuery, useSession } from '../../base/session.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu, Moment, StatusBadge } from '../../parts/cells.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { BanIcon, CheckIcon, ClockIcon, PlusIcon } from '../../parts/icons.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import styles from './people.module.css'
import {
  EditPersonDialog,
  InviteDialog,
  isDangerous,
  LinkDialog,
  peopleQuery,
  type PersonAction,
  PersonActionDialog,
  RemovePersonDialog,
} from './person-dialogs.tsx'

const TrySignOnDialog = dialogOnDemand(
  async () => (await import('./try-sign-on.tsx')).TrySignOnDialog,
)

type Open =
  | { readonly dialog: 'invite' | 'sign-on' }
  | { readonly dialog: 'edit' | 'remove'; readonly person: PersonAnswer }
  | { readonly dialog: 'link'; readonly person: PersonAnswer; readonly link: SentLink }
  | { readonly dialog: 'action'; readonly person: PersonAnswer; readonly action: PersonAction }

export function PeoplePage() {
  const { t } = useTranslation()
  const [open, setOpen] = useState<Open>()
  const { data: session } = useQuery(sessionQuery)
  const hasSignOn = session?.single_sign_on !== null && session !== undefined
  return (
    <>
      <PageHeader
        title={t('nav.people')}
        about={
          <>
            {t('people.about')} <Link to="/settings/roles">{t('people.aboutRoles')}</Link>
          </>
        }
        actions={
          <>
            {hasSignOn && (
              <Button variant="default" onClick={() => setOpen({ dialog: 'sign-on' })}>
                {t('trySignOn.open')}
              </Button>
            )}
            <Button leftSection={<PlusIcon />} onClick={() => setOpen({ dialog: 'invite' })}>
              {t('people.invite')}
            </Button>
          </>
        }
      />
      <PersonTable onOpen={setOpen} />
      {open && <PeopleDialog open={open} onOpen={setOpen} />}
    </>
  )
}

type PeopleDialogProps = { readonly open: Open; readonly onOpen: (open: Open | undefined) => void }

function PeopleDialog({ open, onOpen }: PeopleDialogProps) {
  const close = () => onOpen(undefined)
  const showLink = (person: PersonAnswer, link: SentLink) =>
    onOpen({ dialog: 'link', person, link })
  switch (open.dialog) {
    case 'invite':
      return <InviteDialog onInvited={showLink} onClose={close} />
    case 'sign-on':
      return <TrySignOnDialog onClose={close} />
    case 'edit':
      return <EditPersonDialog person={open.person} onClose={close} />
    case 'remove':
      return <RemovePersonDialog person={open.person} onClose={close} />
    case 'link':
      return <LinkDialog person={open.person} link={open.link} onClose={close} />
    case 'action':
      return (
        <PersonActionDialog
          person={open.person}
          action={open.action}
          onLink={(link) => showLink(open.person, link)}
          onClose={close}
        />
      )
  }
}

function PersonTable({ onOpen }: { readonly onOpen: (open: Open) => void }) {
  const { t } = useTranslation()
  const people = useQuery(peopleQuery)
  const roleName = useRoleName()
  const { person: self } = useSession()
  const columns: readonly Column<PersonAnswer & { readonly isInactive: boolean }>[] = [
    {
      header: t('people.name'),
      isRowHeader: true,
      cell: ({ id, name, email }) => (
        <>
          <span className={styles['name']}>
            {name || email} {id === self?.id && <small>{t('people.you')}</small>}
          </span>
          {name && name !== email && <div className={styles['sub']}>{email}</div>}
        </>
      ),
    },
    {
      header: t('people.role'),
      cell: ({ role, role_from_sign_on: isGiven }) => (
        <>
          {roleName(role)}
          {isGiven && <div className={styles['sub']}>{t('trySignOn.given')}</div>}
        </>
      ),
    },
    {
      header: t('column.status'),
      cell: ({ status, isInactive }) =>
        isInactive ? (
          <StatusBadge
            tone="warn"
            icon={ClockIcon}
            word={t('people.inactive')}
            explanation={t('people.inactiveAbout')}
          />
        ) : (
          <StatusBadge {...looks[status]} word={t(`people.status.${status}`)} />
        ),
    },
    {
      header: t('people.twoFactor'),
      cell: ({ two_factor: isOn }) => t(isOn ? 'people.on' : 'people.off'),
    },
    {
      header: t('people.lastSeen'),
      cell: ({ last_seen_at: at }) => (at ? <Moment at={at} /> : t('never')),
    },
    actionColumn(t, (person) => <PersonMenu person={person} onOpen={onOpen} />),
  ]
  return (
    <QueryTable
      caption={t('people.caption')}
      columns={columns}
      rows={people.data}
      query={people}
      failed={t('people.failed')}
      expectedLines={2}
    />
  )
}

const looks = {
  active: { tone: 'good', icon: CheckIcon },
  invited: { tone: 'neutral', icon: ClockIcon },
  blocked: { tone: 'bad', icon: BanIcon },
} as const

type PersonMenuProps = {
  readonly person: PersonAnswer
  readonly onOpen: (open: Open) => void
}

function PersonMenu({ person, onOpen }: PersonMenuProps) {
  const { t } = useTranslation()
  return (
    <ActionMenu name={person.name || person.email}>
      <Menu.Item onClick={() => onOpen({ dialog: 'edit', person })}>{t('people.edit')}</Menu.Item>
      {actionsFor(person).map((action) => (
        <Menu.Item
          key={action}
          c={isDangerous(action) ? 'var(--tg-bad)' : undefined}
          onClick={() => onOpen({ dialog: 'action', person, action })}
        >
          {t(`people.action.${action}.label`)}
        </Menu.Item>
      ))}
      <Menu.Item c="var(--tg-bad)" onClick={() => onOpen({ dialog: 'remove', person })}>
        {t('people.action.remove.label')}
      </Menu.Item>
    </ActionMenu>
  )
}

function actionsFor(person: PersonAnswer): readonly PersonAction[] {
  const { status, two_factor: hasCodes, has_identity: isLinked } = person
  if (status === 'invited') return ['invite']
  return [
    'password',
    ...(hasCodes ? (['twoFactor'] as const) : []),
    ...(isLinked ? (['unlink'] as const) : []),
    'signOut',
    status === 'blocked' ? 'unblock' : 'block',
  ]
}
