// Signs in with e-mail address and password, then a code if the account requires one; or through single sign-on.
import { Button, Divider, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type SessionAnswer, signInRoutes } from '../../../../src/admin/contract/sign-in.ts'
import { call } from '../../base/api.ts'
import { sessionQuery } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { ErrorAlert, Loading, Notice, QueryError } from '../../parts/notices.tsx'
import { Entrance } from './entrance.tsx'
import { useSignInSteps } from './steps.tsx'

const route = getRouteApi('/sign-in')

/** A third of the form, so that the card does not grow when it comes. */
const formPartPx = 56

export function SignInPage() {
  const { t } = useTranslation()
  const { error: singleSignOnError, next } = route.useSearch()
  const session = useQuery(sessionQuery)
  const { step, form } = useSignInSteps(useEnter())
  return (
    <Entrance title={t('signIn.title')} about={t(`signIn.about.${step}`)}>
      <Stack>
        {/* No warning on localhost: nobody can intercept it, and browsers treat it as secure too. */}
        {session.data?.insecure && !window.isSecureContext && (
          <Notice tone="warn">{t('signIn.insecure')}</Notice>
        )}
        {next !== undefined && !singleSignOnError && step === 'password' && (
          <Notice tone="info">{t('signIn.goOn')}</Notice>
        )}
        {singleSignOnError && (
          <Notice tone="bad" announce>
            {t(`signIn.ssoError.${singleSignOnError}`)}
          </Notice>
        )}
        <QueryError title={t('error.page')} query={session} />
        {session.isPending && <Loading lines={3} height={formPartPx} />}
        {session.data &&
          (session.data.setup_needed ? (
            <Notice tone="info" title={t('signIn.setupNeeded')}>
              {t('signIn.setupHow')}
            </Notice>
          ) : (
            <>
              {form}
              {step === 'password' && <SingleSignOn offered={session.data.single_sign_on} />}
            </>
          ))}
      </Stack>
    </Entrance>
  )
}

/** After the sign-in, goes to the page the reader wanted. */
function useEnter(): () => void {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { next } = route.useSearch()
  return () => {
    void client
      .invalidateQueries({ queryKey: sessionQuery.queryKey })
      .then(() => navigate({ to: next ?? '/', replace: true }))
  }
}

function SingleSignOn({ offered }: { readonly offered: SessionAnswer['single_sign_on'] }) {
  const { t } = useTranslation()
  const start = useMutation({
    mutationFn: () => call(signInRoutes.startSingleSignOn, {}),
    onSuccess: ({ location: address }) => location.assign(address),
  })
  if (!offered) return null
  return (
    <>
      <Divider label={t('signIn.or')} />
      <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>
        {t('signIn.with', { name: offered.name })}
      </Button>
      {start.error && <ErrorAlert title={t('signIn.failed')} error={start.error} />}
    </>
  )
}
