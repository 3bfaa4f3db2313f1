// What is shown instead of a page that could not be loaded.
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { ErrorAlert } from '../parts/error-alert.tsx'

export function FailedPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation()
  return (
    <ErrorAlert
      title={t('error.page')}
      error={error instanceof Error ? error : new Error(String(error))}
      onRetry={reset}
    />
  )
}
