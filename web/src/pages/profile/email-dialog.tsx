// Changes the address for signing in; the password proves who is asking.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { sessionQuery } from '../../session.ts'
import { useChange } from '../../use-change.ts'
import { CurrentPassword } from './current-password.tsx'

type EmailDialogProps = { readonly current: string; readonly onClose: () => void }

export function EmailDialog({ current, onClose }: EmailDialogProps) {
  const { t } = useTranslation()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const change = useChange([['profile'], sessionQuery.queryKey], {
    change: () => call(profileRoutes.changeEmail, { body: { email: email.trim(), password } }),
    said: (changed) => t('profile.emailChanged', { email: changed.email }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('profile.changeEmail')}
      action={t('profile.changeEmail')}
      isReady={email.trim() !== '' && email.trim() !== current && password !== ''}
      isPending={change.isPending}
      error={unplaced(change.error, ['email', 'password'])}
      onConfirm={() => change.mutate()}
      onCancel={onClose}
    >
      <p>{t('profile.changeEmailAbout')}</p>
      <TextInput
        label={t('profile.newEmail')}
        type="email"
        required
        data-autofocus
        autoComplete="email"
        value={email}
        error={problemOf(change.error, 'email')}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <CurrentPassword
        value={password}
        error={problemOf(change.error, 'password')}
        onType={setPassword}
      />
    </ConfirmDialog>
  )
}
