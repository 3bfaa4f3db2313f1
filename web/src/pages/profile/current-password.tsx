// Asks for the current password before an action that only the owner may take.
import { PasswordInput } from '@mantine/core'
import type { PasswordInputProps } from '@mantine/core'
import { useTranslation } from '../../i18n/use-translation.ts'

type CurrentPasswordProps = Pick<PasswordInputProps, 'value' | 'error'> & {
  readonly onType: (password: string) => void
  readonly isFirst?: boolean
}

export function CurrentPassword({ onType, isFirst = false, ...field }: CurrentPasswordProps) {
  const { t } = useTranslation()
  return (
    <PasswordInput
      {...field}
      label={t('profile.currentPassword')}
      required
      data-autofocus={isFirst || undefined}
      autoComplete="current-password"
      visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
      onChange={({ currentTarget }) => onType(currentTarget.value)}
    />
  )
}
