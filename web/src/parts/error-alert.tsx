// A failed request: what happened, the code and request id to quote, and a button to retry.
import { Button } from '@mantine/core'
import { ApiError } from '../api.ts'
import { said } from '../i18n/said.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { Notice } from './notice.tsx'

type ErrorAlertProps = {
  /** What could not be done: "The keys could not be loaded." */
  readonly title: string
  readonly error: Error
  readonly onRetry?: () => void
}

export function ErrorAlert({ title, error, onRetry }: ErrorAlertProps) {
  const { t } = useTranslation()
  const retry = onRetry && (
    <Button size="compact-sm" variant="default" onClick={onRetry}>
      {t('error.retry')}
    </Button>
  )
  return (
    <Notice tone="bad" title={title} actions={retry} announce>
      <ErrorWords error={error} />
    </Notice>
  )
}

/** The message of an error: the gateway's own, or that it did not answer, or that something else did. */
function ErrorWords({ error }: { readonly error: Error }) {
  const { t } = useTranslation()
  if (!(error instanceof ApiError)) return <>{t('error.unexpected')}</>
  if (error.code === 'unreachable') return <>{t('error.unreachable')}</>
  if (error.code === 'unanswered') return <>{t('error.unanswered')}</>
  if (error.code === 'not_signed_in') return <>{t('error.sessionEnded')}</>
  if (error.code === 'not_understood')
    return <>{t('error.notUnderstood', { status: error.status })}</>
  return (
    <>
      <div className="break">{said(error)}</div>
      <small className="muted">
        <code>{error.code}</code>
        {error.requestId && (
          <>
            {' · '}
            {t('error.requestId')} <code>{error.requestId}</code>
          </>
        )}
      </small>
    </>
  )
}
