// Invites someone: by mail, or with a link to pass on if no mail server is configured.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import type { PersonAnswer, SentLink } from '../../../../src/admin/contract/people.ts'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByPeople } from './people-queries.ts'
import { RoleSelect } from './role-select.tsx'

type InviteDialogProps = {
  readonly onInvited: (person: PersonAnswer, link: SentLink) => void
  readonly onClose: () => void
}

export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const { t } = useTranslation()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState('viewer')
  const invite = useChange(madeOldByPeople, {
    change: () =>
      call(peopleRoutes.invitePerson, {
        body: { email: email.trim(), name: name.trim() === '' ? undefined : name.trim(), role },
      }),
    onAnswer: ({ person, link }) => onInvited(person, link),
  })
  const problem = (field: string) => problemOf(invite.error, field)
  return (
    <ConfirmDialog
      title={t('people.inviteTitle')}
      action={t('people.invite')}
      isReady={email.trim() !== ''}
      isPending={invite.isPending}
      error={unplaced(invite.error, ['email', 'name', 'role'])}
      onConfirm={() => invite.mutate()}
      onCancel={onClose}
    >
      <TextInput
        label={t('signIn.email')}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        value={email}
        error={problem('email')}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <TextInput
        label={t('people.name')}
        autoComplete="off"
        maxLength={PERSON_NAME_LENGTH_MAX}
        value={name}
        error={problem('name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <RoleSelect value={role} onChange={setRole} error={problem('role')} />
    </ConfirmDialog>
  )
}
