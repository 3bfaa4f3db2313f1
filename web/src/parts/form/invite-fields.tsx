// Inviting somebody, and the field for a role that is given, whether everywhere or within a group.
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { rolesQuery } from '../../base/queries.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { useFields } from '../changes.tsx'
import { ConfirmDialog } from '../dialogs.tsx'

/** `role`: the one that is chosen at first. */
export function useInvitation(role: string) {
  const { values, text } = useFields({ email: '', name: '', role })
  const [email, name] = [values.email.trim(), values.name.trim()]
  return {
    ...{ email, name, text },
    isReady: email !== '',
    sent: { email, name: name === '' ? undefined : name, role: values.role },
  }
}

type InvitationDialogProps = {
  readonly title: string
  readonly invitation: ReturnType<typeof useInvitation>
  readonly change: ComponentProps<typeof ConfirmDialog>['change'] & { readonly mutate: () => void }
  readonly onCancel: () => void
}

export function InvitationDialog({ invitation, change, ...dialog }: InvitationDialogProps) {
  const { t } = useTranslation()
  const { text, isReady } = invitation
  return (
    <ConfirmDialog
      {...dialog}
      action={t('people.invite')}
      isReady={isReady}
      change={change}
      placed={['email', 'name', 'role']}
    >
      <TextInput
        label={t('signIn.email')}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        {...text('email', change.error)}
      />
      <TextInput
        label={t('people.name')}
        autoComplete="off"
        maxLength={PERSON_NAME_LENGTH_MAX}
        {...text('name', change.error)}
      />
      <RoleSelect {...text('role', change.error)} />
    </ConfirmDialog>
  )
}

type RoleSelectProps = ReturnType<ReturnType<typeof useFields>['text']>

/** Chooses a role. The gateway decides which roles the reader may grant. */
export function RoleSelect({ value, onChange, error }: RoleSelectProps) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const { data: roles = [], isError } = useQuery(rolesQuery)
  const permissions = roles.find(({ id }) => id === value)?.permissions ?? []
  return (
    <NativeSelect
      label={t('people.role')}
      required
      value={value}
      error={isError ? t('roles.failed') : error}
      description={permissions.map((each) => t(`permission.${each}`)).join(', ')}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={onChange}
      data={roles.map((role) => ({ value: role.id, label: roleName(role) }))}
    />
  )
}
