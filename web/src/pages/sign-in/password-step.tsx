// The first step of a sign-in: e-mail address and password.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { SubmitEvent } from 'react'
import { signInRoutes } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { problemOf, unplaced } from '../../parts/field-problem.ts'

type PasswordStepProps = { readonly onStep: (step: 'done' | 'code') => void }

export function PasswordStep({ onStep }: PasswordStepProps) {
  const { t } = useTranslation()
  const signIn = useMutation({
    mutationFn: (form: FormData) =>
      call(signInRoutes.signIn, {
        body: { email: textOf(form, 'email').trim(), password: textOf(form, 'password') },
      }),
    onSuccess: ({ step }) => onStep(step),
  })
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    signIn.mutate(new FormData(event.currentTarget))
  }
  const failure = unplaced(signIn.error, ['email', 'password'])
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {failure && <ErrorAlert title={t('signIn.failed')} error={failure} />}
        <TextInput
          name="email"
          type="email"
          label={t('signIn.email')}
          autoComplete="username"
          error={problemOf(signIn.error, 'email')}
          autoFocus
          required
        />
        <PasswordInput
          name="password"
          label={t('signIn.password')}
          autoComplete="current-password"
          error={problemOf(signIn.error, 'password')}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword'), tabIndex: 0 }}
          required
        />
        <Button type="submit" loading={signIn.isPending}>
          {t('signIn.action')}
        </Button>
      </Stack>
    </form>
  )
}

export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
