// The reader's own name, address, role and password.
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { z } from 'zod'
import type { Permission } from '../../../../src/admin/contract/permissions.ts'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import type { profile as profileAnswer } from '../../../../src/admin/contract/profile.ts'
import {
  PASSWORD_LENGTH_MIN,
  PERSON_NAME_LENGTH_MAX,
} from '../../../../src/admin/contract/sign-in.ts'
import { call, unplaced } from '../../base/api.ts'
import { sessionQuery } from '../../base/session.ts'
import { useRoleName, useTranslation } from '../../i18n/i18n.ts'
import { onSubmit, useChange, useFields } from '../../parts/changes.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import { ErrorAlert } from '../../parts/notices.tsx'
import { Card, CurrentPassword } from './card.tsx'
import styles from './profile.module.css'

export function AccountCard({ profile }: { readonly profile: z.output<typeof profileAnswer> }) {
  const { t } = useTranslation()
  const roleName = useRoleName()
  const { values, text } = useFields({ name: profile.name })
  const [isMoving, setMoving] = useState(false)
  const save = useChange([['profile'], sessionQuery.queryKey], {
    change: () => call(profileRoutes.changeProfile, { body: values }),
    said: () => t('profile.nameSaved'),
  })
  const failure = unplaced(save.error, ['name'])
  const submit = onSubmit(() => save.mutate())
  return (
    <Card
      title={profile.email}
      about={[
        { called: roleName(profile.role), permissions: profile.everywhere },
        ...profile.groups.map(({ name, role, permissions }) => ({
          called: `${roleName(role)} (${name})`,
          permissions,
        })),
      ].map((held) => (
        <RoleWords key={held.called} {...held} />
      ))}
      actions={
        profile.has_password && (
          <Button variant="default" onClick={() => setMoving(true)}>
            {t('profile.changeEmail')}
          </Button>
        )
      }
    >
      {isMoving && <EmailDialog current={profile.email} onClose={() => setMoving(false)} />}
      {failure && <ErrorAlert title={t('dialog.failed')} error={failure} />}
      <form className={styles['form']} onSubmit={submit}>
        <TextInput
          label={t('link.name')}
          required
          maxLength={PERSON_NAME_LENGTH_MAX}
          autoComplete="name"
          {...text('name', save.error)}
        />
        <Button
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={values.name.trim() === '' || values.name === profile.name}
        >
          {t('keyForm.save')}
        </Button>
      </form>
    </Card>
  )
}

type RoleWordsProps = {
  readonly called: string
  readonly permissions: readonly Permission[]
}

/** A role, everywhere or in a group, and what it permits there. */
function RoleWords({ called, permissions }: RoleWordsProps) {
  const { t } = useTranslation()
  const list = permissions.map((each) => t(`permission.${each}`)).join(', ')
  return (
    <span className={styles['role']}>
      {list === '' ? called : t('profile.role', { role: called, permissions: list })}
    </span>
  )
}

type EmailDialogProps = { readonly current: string; readonly onClose: () => void }

/** Changes the address for signing in; the password proves who is asking. */
function EmailDialog({ current, onClose }: EmailDialogProps) {
  const { t } = useTranslation()
  const { values, text } = useFields({ email: '', password: '' })
  const email = values.email.trim()
  const change = useChange([['profile'], sessionQuery.queryKey], {
    change: () => call(profileRoutes.changeEmail, { body: { ...values, email } }),
    said: (changed) => t('profile.emailChanged', { email: changed.email }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('profile.changeEmail')}
      action={t('profile.changeEmail')}
      effect={t('profile.changeEmailAbout')}
      isReady={email !== '' && email !== current && values.password !== ''}
      change={change}
      placed={['email', 'password']}
      onCancel={onClose}
    >
      <TextInput
        label={t('profile.newEmail')}
        type="email"
        required
        data-autofocus
        autoComplete="email"
        {...text('email', change.error)}
      />
      <CurrentPassword {...text('password', change.error)} />
    </ConfirmDialog>
  )
}

/** Changes the reader's password; every other session ends with it. */
export function PasswordCard() {
  const { t } = useTranslation()
  const { values, set, text } = useFields({ current: '', password: '' })
  const change = useChange([['profile']], {
    change: () => call(profileRoutes.changePassword, { body: values }),
    said: () => t('profile.passwordChanged'),
    onDone: () => set({ current: '', password: '' }),
  })
  const failure = unplaced(change.error, ['current', 'password'])
  const submit = onSubmit(() => change.mutate())
  return (
    <Card title={t('profile.password')} about={t('profile.passwordAbout')}>
      {failure && <ErrorAlert title={t('dialog.failed')} error={failure} />}
      <form className={styles['form']} onSubmit={submit}>
        <CurrentPassword {...text('current', change.error)} />
        <PasswordInput
          label={t('link.password')}
          placeholder={t('profile.passwordHint', { count: PASSWORD_LENGTH_MIN })}
          required
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword') }}
          {...text('password', change.error)}
        />
        <Button
          type="submit"
          variant="default"
          loading={change.isPending}
          disabled={values.current === '' || values.password === ''}
        >
          {t('link.reset.action')}
        </Button>
      </form>
    </Card>
  )
}
