// Chooses a role. The gateway decides which roles the reader may grant.
import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useRoleName } from '../../i18n/use-role-name.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { rolesQuery } from './people-queries.ts'

type RoleSelectProps = {
  readonly value: string
  readonly onChange: (role: string) => void
  readonly error?: ReactNode
}

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
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={roles.map((role) => ({ value: role.id, label: roleName(role) }))}
    />
  )
}
