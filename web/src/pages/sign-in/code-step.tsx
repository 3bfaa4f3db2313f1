// The second step of a sign-in: a code from the app, or a recovery code if the app is lost.
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { SubmitEvent } from 'react'
import { CODE_LENGTH_MAX, signInRoutes } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { textOf } from './password-step.tsx'

type CodeStepProps = { readonly onDone: () => void; readonly onBack: () => void }

export function CodeStep({ onDone, onBack }: CodeStepProps) {
  const { t } = useTranslation()
  const [kind, setKind] = useState<'app' | 'recovery'>('app')
  const enter = useMutation({
    mutationFn: (code: string) => call(signInRoutes.enterCode, { body: { code, kind } }),
    onSuccess: onDone,
  })
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    enter.mutate(textOf(new FormData(event.currentTarget), 'code').trim())
  }
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
