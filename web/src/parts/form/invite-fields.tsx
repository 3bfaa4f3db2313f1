// The fields of an invitation, and of a role that is given, whether everywhere or within a group.
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PERSON_NAME_LENGTH_MAX } from '../../../../src/admin/contract/sign-in.ts'
import { rolesQuery } from '../../base/queries.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { useFields } from '../changes.tsx'

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

/** The fields that show what the gateway says about them. */
export const invitedBy = ['email', 'name', 'role'] as const

type InviteFieldsProps = {
  readonly invitation: ReturnType<typeof useInvitation>
  readonly error: Error | null
}

export function InviteFields({ invitation: { text }, error }: InviteFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput
        label={t('signIn.email')}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        {...text('email', error)}
      />
      <TextInput
        label={t('people.name')}
        autoComplete="off"
        maxLength={PERSON_NAME_LENGTH_MAX}
        {...text('name', error)}
      />
      <RoleSelect {...text('role', error)} />
    </>
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
