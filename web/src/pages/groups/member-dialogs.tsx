// The dialogs about a member of a group: invite, change the role, move, take out.
import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentType, useState } from 'react'
import type { GroupDetail } from '../../../../src/admin/contract/groups.ts'
import { invitationRoutes, type MemberAnswer } from '../../../../src/admin/contract/people.ts'
import { memberRoutes, type SentLink } from '../../../../src/admin/contract/people.ts'
import { call } from '../../base/api.ts'
import { groupsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useChange, useFields } from '../../parts/changes.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { InvitationDialog, RoleSelect, useInvitation } from '../../parts/form/invite-fields.tsx'
import { madeOldByKey } from '../keys/key-words.ts'
import { LeavingFields, useLeaving } from '../people/leaving-fields.tsx'
import { LinkDialog, madeOldByPeople } from '../people/person-dialogs.tsx'

const madeOldByMember = [...madeOldByKey, ...madeOldByPeople] as const

type InviteMemberProps = { readonly group: GroupDetail; readonly onClose: () => void }

/** Whoever is new gets a link, by mail or from the reader. */
export function InviteMemberDialog({ group, onClose }: InviteMemberProps) {
  const { t } = useTranslation()
  const invitation = useInvitation('member')
  const { email, name } = invitation
  const [link, setLink] = useState<SentLink>()
  const invite = useChange(madeOldByMember, {
    change: () =>
      call(invitationRoutes.inviteMember, { params: { id: group.id }, body: invitation.sent }),
    onAnswer: (answer) => answer.link && setLink(answer.link),
    said: () => t('members.invited', { email, group: group.name }),
    onDone: (answer) => {
      if (!answer.link) onClose()
    },
  })
  if (link) return <LinkDialog person={{ name, email }} link={link} onClose={onClose} />
  return (
    <InvitationDialog
      title={t('members.inviteTitle', { group: group.name })}
      invitation={invitation}
      change={invite}
      onCancel={onClose}
    />
  )
}

export type MemberAction = 'role' | 'move' | 'remove'

type MemberDialogProps = {
  readonly group: GroupDetail
  readonly member: MemberAnswer
  /** All of the group. */
  readonly members: readonly MemberAnswer[]
  readonly onClose: () => void
}

const dialogs = {
  role: RoleDialog,
  move: MoveDialog,
  remove: RemoveDialog,
} satisfies Record<MemberAction, ComponentType<MemberDialogProps>>

export function MemberDialog({
  action,
  ...props
}: MemberDialogProps & { readonly action: MemberAction }) {
  const ActionDialog = dialogs[action]
  return <ActionDialog {...props} />
}

function RoleDialog({ group, member, onClose }: MemberDialogProps) {
  const { t } = useTranslation()
  const name = member.name || member.email
  const { values, text } = useFields({ role: member.role.id })
  const save = useChange(madeOldByMember, {
    change: () =>
      call(memberRoutes.putMember, {
        params: { id: group.id, person: member.id },
        body: { role: values.role },
      }),
    said: () => t('people.saved', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('members.roleTitle', { name, group: group.name })}
      action={t('keyForm.save')}
      isReady={values.role !== member.role.id}
      change={save}
      placed={['role']}
      onCancel={onClose}
    >
      <RoleSelect {...text('role', save.error)} />
    </ConfirmDialog>
  )
}

function MoveDialog({ group, member, members, onClose }: MemberDialogProps) {
  const { t } = useTranslation()
  const name = member.name || member.email
  const [to, setTo] = useState('')
  const { data: groups = [] } = useQuery(groupsQuery)
  const leaving = useLeaving({ personId: member.id, groupId: group.id, mayTake: true })
  const offered = groups.filter(({ id, status }) => id !== group.id && status === 'active')
  const move = useChange(madeOldByMember, {
    change: () =>
      call(memberRoutes.moveMember, {
        params: { id: group.id, person: member.id },
        body: { group: to, ...leaving.sent },
      }),
    said: () => t('members.moved', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('members.moveTitle', { name })}
      action={t('members.move')}
      effect={t('members.moveEffect', { group: group.name })}
      isReady={to !== '' && leaving.isReady}
      change={move}
      onCancel={onClose}
    >
      <NativeSelect
        label={t('keyForm.field.group')}
        required
        data-autofocus
        value={to}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
        data={[
          { value: '', label: '' },
          ...offered.map((each) => ({ value: each.id, label: each.name })),
        ]}
      />
      <LeavingFields leaving={leaving} others={members.filter(({ id }) => id !== member.id)} />
    </ConfirmDialog>
  )
}

function RemoveDialog({ group, member, members, onClose }: MemberDialogProps) {
  const { t } = useTranslation()
  const name = member.name || member.email
  const leaving = useLeaving({ personId: member.id, groupId: group.id })
  const { keys, to } = leaving.sent
  const remove = useChange(madeOldByMember, {
    change: () =>
      call(memberRoutes.removeMember, {
        params: { id: group.id, person: member.id },
        query: { keys: keys === 'take' ? undefined : keys, to },
      }),
    said: () => t('members.removed', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('members.removeTitle', { name, group: group.name })}
      action={t('members.remove')}
      effect={t('members.removeEffect', { group: group.name })}
      isDangerous
      isReady={leaving.isReady}
      change={remove}
      onCancel={onClose}
    >
      <LeavingFields leaving={leaving} others={members.filter(({ id }) => id !== member.id)} />
    </ConfirmDialog>
  )
}
