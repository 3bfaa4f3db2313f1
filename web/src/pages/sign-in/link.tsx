// A one-time link: the first administrator, an invitation or a forgotten password. The token is in the fragment of the
// address, which browsers do not send; it is removed from there at once and kept in memory.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnswerOf } from '../../../../src/admin/contract/route.ts'
import {
  PASSWORD_LENGTH_MIN,
  PERSON_NAME_LENGTH_MAX,
  signInRoutes,
} from '../../../../src/admin/contract/sign-in.ts'
import { ApiError, call, problemOf, unplaced } from '../../base/api.ts'
import { sessionQuery } from '../../base/session.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import { onSubmit, textOf } from '../../parts/changes.tsx'
import { ErrorAlert, Loading, Notice, QueryError } from '../../parts/notices.tsx'
import { Entrance } from './entrance.tsx'

export function LinkPage() {
  const { t } = useTranslation()
  const [token] = useState(takeToken)
  const link = useQuery({
    queryKey: ['link'],
    queryFn: () => call(signInRoutes.lookAtLink, { body: { token } }),
    enabled: token !== '',
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const kind = link.data?.kind
  return (
    <Entrance
      title={t(kind ? `link.${kind}.title` : 'link.title')}
      about={kind && t(`link.${kind}.about`)}
    >
      {token === '' && <DeadLink message={t('link.incomplete')} />}
      {link.isLoading && <Loading />}
      {link.error instanceof ApiError && link.error.status >= 400 && link.error.status < 500 ? (
        <DeadLink message={said(link.error)} />
      ) : (
        link.error && <QueryError title={t('error.page')} query={link} />
      )}
      {link.data && <LinkForm token={token} {...link.data} />}
    </Entrance>
  )
}

/** Removes the token from the address, and so from the browser's history. */
function takeToken(): string {
  const token = location.hash.slice(1)
  if (token !== '') history.replaceState(history.state, '', location.pathname)
  return token
}

function DeadLink({ message }: { readonly message: string }) {
  const { t } = useTranslation()
  return (
    <Stack>
      <Notice tone="bad" title={t('link.dead')} announce>
        {message}
      </Notice>
      <Button component={Link} to="/sign-in" variant="default">
        {t('signIn.title')}
      </Button>
    </Stack>
  )
}

type LinkFormProps = AnswerOf<typeof signInRoutes.lookAtLink> & { readonly token: string }

function LinkForm({ token, kind, email, name, expires_at: expiresAt }: LinkFormProps) {
  const { t, format } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const use = useMutation({
    mutationFn: (form: FormData) =>
      call(signInRoutes.useLink, {
        body: {
          token,
          password: textOf(form, 'password'),
          ...(kind === 'reset' ? {} : { name: textOf(form, 'name') }),
          ...(kind === 'setup' ? { email: textOf(form, 'email').trim() } : {}),
        },
      }),
    onSuccess: async ({ step }) => {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      await navigate({ to: step === 'done' ? '/' : '/sign-in', replace: true })
    },
  })
  const submit = onSubmit((form) => use.mutate(form))
  const failure = unplaced(use.error, ['email', 'name', 'password'])
  const errorOf = (field: string) => problemOf(use.error, field)
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {failure && <ErrorAlert title={t('link.failed')} error={failure} />}
        <TextInput
          name="email"
          type="email"
          label={t('signIn.email')}
          autoComplete="username"
          defaultValue={email ?? ''}
          readOnly={kind !== 'setup'}
          error={errorOf('email')}
          autoFocus={kind === 'setup'}
          required
        />
        {kind !== 'reset' && (
          <TextInput
            name="name"
            label={t('link.name')}
            autoComplete="name"
            maxLength={PERSON_NAME_LENGTH_MAX}
            defaultValue={name ?? ''}
            error={errorOf('name')}
            required
          />
        )}
        <PasswordInput
          name="password"
          label={t('link.password')}
          description={t('link.passwordHint', { count: PASSWORD_LENGTH_MIN })}
          autoComplete="new-password"
          error={errorOf('password')}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword'), tabIndex: 0 }}
          required
        />
        <Button type="submit" loading={use.isPending}>
          {t(`link.${kind}.action`)}
        </Button>
        <small className="muted">{t('link.expires', { moment: format.dateTime(expiresAt) })}</small>
      </Stack>
    </form>
  )
}
