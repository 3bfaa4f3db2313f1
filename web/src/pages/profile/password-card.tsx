// Changes the reader's password; every other session ends with it.
import { Button, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import type { SubmitEvent } from 'react'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { PASSWORD_LENGTH_MIN } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'
import { useChange } from '../../use-change.ts'
import { Card } from './card.tsx'
import { CurrentPassword } from './current-password.tsx'
import styles from './profile.module.css'

export function PasswordCard() {
  const { t } = useTranslation()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useChange([['profile']], {
    change: () => call(profileRoutes.changePassword, { body: { current, password } }),
    said: () => t('profile.passwordChanged'),
    onDone: () => {
      setCurrent('')
      setPassword('')
    },
  })
  const failure = unplaced(change.error, ['current', 'password'])
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.mutate()
  }
  const toggle = { 'aria-label': t('signIn.showPassword') }
  return (
    <Card title={t('profile.password')} about={t('profile.passwordAbout')}>
      {failure && <ErrorAlert title={t('dialog.failed')} error={failure} />}
      <form className={styles['form']} onSubmit={submit}>
        <CurrentPassword
          value={current}
          error={problemOf(change.error, 'current')}
          onType={setCurrent}
        />
        <PasswordInput
          label={t('link.password')}
          placeholder={t('profile.passwordHint', { count: PASSWORD_LENGTH_MIN })}
          required
          autoComplete="new-password"
          visibilityToggleButtonProps={toggle}
          value={password}
          error={problemOf(change.error, 'password')}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={change.isPending}
          disabled={current === '' || password === ''}
        >
          {t('link.reset.action')}
        </Button>
      </form>
    </Card>
  )
}
