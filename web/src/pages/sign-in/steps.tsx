// The steps of a sign-in: e-mail address and password, then a code.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CODE_LENGTH_MAX, signInRoutes } from '../../../../src/admin/contract/sign-in.ts'
import { call, problemOf, unplaced } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { onSubmit, textOf } from '../../parts/changes.tsx'
import { ErrorAlert } from '../../parts/notices.tsx'

/** The form of the step that is due, and which step that is. */
export function useSignInSteps(onDone: () => void) {
  const [step, setStep] = useState<'password' | 'code'>('password')
  const goOn = (next: 'done' | 'code') => (next === 'done' ? onDone() : setStep('code'))
  const form =
    step === 'code' ? (
      <CodeStep onDone={onDone} onBack={() => setStep('password')} />
    ) : (
      <PasswordStep onStep={goOn} />
    )
  return { step, form }
}

function PasswordStep({ onStep }: { readonly onStep: (step: 'done' | 'code') => void }) {
  const { t } = useTranslation()
  const signIn = useMutation({
    mutationFn: (form: FormData) =>
      call(signInRoutes.signIn, {
        body: { email: textOf(form, 'email').trim(), password: textOf(form, 'password') },
      }),
    onSuccess: ({ step }) => onStep(step),
  })
  const submit = onSubmit((form) => signIn.mutate(form))
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

type CodeStepProps = { readonly onDone: () => void; readonly onBack: () => void }

/** The second step of a sign-in: a code from the app, or a recovery code if the app is lost. */
function CodeStep({ onDone, onBack }: CodeStepProps) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<'app' | 'recovery'>('app')
  const enter = useMutation({
    mutationFn: (code: string) => call(signInRoutes.enterCode, { body: { code, kind } }),
    onSuccess: onDone,
  })
  const submit = onSubmit((form) => enter.mutate(textOf(form, 'code').trim()))
  return (
    <form onSubmit={submit}>
      <Stack>
        {enter.error && <ErrorAlert title={t('signIn.failed')} error={enter.error} />}
        <TextInput
          key={kind}
          name="code"
          label={t(`signIn.code.${kind}`)}
          inputMode={kind === 'app' ? 'numeric' : 'text'}
          autoComplete="one-time-code"
          maxLength={CODE_LENGTH_MAX}
          autoFocus
          required
        />
        <Button type="submit" loading={enter.isPending}>
          {t('signIn.action')}
        </Button>
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => setKind(kind === 'app' ? 'recovery' : 'app')}
        >
          {t(kind === 'app' ? 'signIn.useRecovery' : 'signIn.useApp')}
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={onBack}>
          {t('signIn.back')}
        </Button>
      </Stack>
    </form>
  )
}
