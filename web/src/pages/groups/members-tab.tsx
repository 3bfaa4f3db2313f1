// The members of a group with their roles in it, for those who look, and what those may do with them who manage people there.
import { Button, Group, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type MemberAnswer, memberRoutes } from '../../../../src/admin/contract/people.ts'
import { call } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { ActionMenu, Moment } from '../../parts/cells.tsx'
import { actionColumn, type Column, QueryTable } from '../../parts/data-table.tsx'
import { PeopleIcon, PlusIcon } from '../../parts/icons.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import type { MemberAction } from './member-dialogs.tsx'
import type { TabProps } from './tabs.tsx'

const InviteMemberDialog = dialogOnDemand(
  async () => (await import('./member-dialogs.tsx')).InviteMemberDialog,
)
const MemberDialog = dialogOnDemand(async () => (await import('./member-dialogs.tsx')).MemberDialog)

type Open =
  | { readonly action: 'invite' }
  | { readonly action: MemberAction; readonly member: MemberAnswer }

const actions: readonly MemberAction[] = ['role', 'move', 'remove']

export function MembersTab({ group }: TabProps) {
  const { t } = useTranslation()
  const { mayWithin } = useSession()
  const isManaged = mayWithin('people:manage', group.id)
  const [open, setOpen] = useState<Open>()
  const members = useQuery({
    queryKey: ['groups', 'members', group.id],
    queryFn: async ({ signal }) =>
      (await call(memberRoutes.listMembers, { params: { id: group.id }, signal })).members,
  })
  const invite = isManaged && (
    <Button
      variant="default"
      leftSection={<PlusIcon />}
      onClick={() => setOpen({ action: 'invite' })}
    >
      {t('people.invite')}
    </Button>
  )
  const isEmpty = members.data?.length === 0
  const close = () => setOpen(undefined)
  return (
    <>
      {/* Where the button stands is known with the list: one that moved would lose the focus. */}
      {isManaged && !isEmpty && (
        <Group justify="flex-end" mih={36} mb="md">
          {!members.isPending && invite}
        </Group>
      )}
      <QueryTable
        caption={t('groups.members')}
        columns={useColumns(isManaged ? setOpen : undefined)}
        rows={members.data}
        query={members}
        failed={t('group.membersFailed')}
        none={{
          ...{ icon: PeopleIcon, title: t('group.noMembers'), about: t('group.noMembersAbout') },
          actions: invite,
        }}
        expectedLines={2}
      />
      {open?.action === 'invite' && <InviteMemberDialog group={group} onClose={close} />}
      {open && open.action !== 'invite' && (
        <MemberDialog {...open} group={group} members={members.data ?? []} onClose={close} />
      )}
    </>
  )
}

/** Without a menu for those who only look. */
function useColumns(onOpen: ((open: Open) => void) | undefined): readonly Column<MemberAnswer>[] {
  const { t } = useTranslation()
  const roleName = useRoleName()
  return [
    {
      header: t('people.name'),
      isRowHeader: true,
      cell: ({ name, email }) => (
        <>
          <span className="break">{name || email}</span>
          {name && name !== email && <div className="sub break">{email}</div>}
        </>
      ),
    },
    {
      header: t('people.role'),
      cell: ({ role, from_sign_on: isGiven }) => (
        <>
          {roleName(role)}
          {isGiven && <div className="sub">{t('trySignOn.given')}</div>}
        </>
      ),
    },
    { header: t('group.memberSince'), cell: ({ added_at: at }) => <Moment at={at} /> },
    ...(onOpen
      ? [
          actionColumn<MemberAnswer>(t, (member) =>
            // The provider decides on what it gives.
            member.from_sign_on ? null : <MemberMenu member={member} onOpen={onOpen} />,
          ),
        ]
      : []),
  ]
}

type MemberMenuProps = { readonly member: MemberAnswer; readonly onOpen: (open: Open) => void }

function MemberMenu({ member, onOpen }: MemberMenuProps) {
  const { t } = useTranslation()
  return (
    <ActionMenu name={member.name || member.email}>
      {actions.map((action) => (
        <Menu.Item
          key={action}
          c={action === 'remove' ? 'var(--tg-bad)' : undefined}
          onClick={() => onOpen({ action, member })}
        >
          {t(`members.${action}`)}
        </Menu.Item>
      ))}
    </ActionMenu>
  )
}
