// Edits a person's name, e-mail address or role.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { peopleRoutes } from '../../../../src/admin/contract/people.ts'
import type { PersonAnswer } from '../../../../src/admin/contract/people.ts'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { Notice } from '../../parts/notice.tsx'
import { sessionQuery, useSession } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByPeople } from './people-queries.ts'
import { RoleSelect } from './role-select.tsx'

type EditPersonDialogProps = { readonly person: PersonAnswer; readonly onClose: () => void }

export function EditPersonDialog({ person, onClose }: EditPersonDialogProps) {
  const { t } = useTranslation()
  const [name, setName] = useState(person.name)
  const [email, setEmail] = useState(person.email)
  const [role, setRole] = useState(person.role.id)
  const { person: self } = useSession()
  const isMoved = email.trim() !== person.email
  const isWhole = name.trim() !== '' && email.trim() !== ''
  const save = useChange([...madeOldByPeople, sessionQuery.queryKey], {
    change: () =>
      call(peopleRoutes.changePerson, {
        params: { id: person.id },
        body: {
          ...(name === person.name ? {} : { name }),
          ...(isMoved ? { email: email.trim() } : {}),
          ...(role === person.role.id ? {} : { role }),
        },
      }),
    said: () => t('people.saved', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('people.editTitle', { name: person.email })}
      action={t('keyForm.save')}
      isReady={isWhole && (isMoved || name !== person.name || role !== person.role.id)}
      isPending={save.isPending}
      error={unplaced(save.error, ['name', 'email', 'role'])}
      onConfirm={() => save.mutate()}
      onCancel={onClose}
    >
      <TextInput
        label={t('people.name')}
        required
        data-autofocus
        maxLength={PERSON_NAME_LENGTH_MAX}
        value={name}
        error={problemOf(save.error, 'name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TextInput
        label={t('signIn.email')}
        description={person.id === self?.id ? t('people.ownEmail') : undefined}
        type="email"
        required
        disabled={person.id === self?.id}
        autoComplete="off"
        value={email}
        error={problemOf(save.error, 'email')}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      {isMoved && <Notice tone="warn">{t('people.emailEffect')}</Notice>}
      <RoleSelect value={role} onChange={setRole} error={problemOf(save.error, 'role')} />
    </ConfirmDialog>
  )
}
