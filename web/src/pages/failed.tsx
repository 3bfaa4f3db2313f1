// Shown instead of a page that could not be loaded.
import { useRouter } from '@tanstack/react-router'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { ErrorAlert } from '../parts/error-alert.tsx'

export function FailedPage({ error }: ErrorComponentProps) {
  const { t } = useTranslation()
  const router = useRouter()
  return (
    <ErrorAlert
      title={t('error.page')}
      error={error instanceof Error ? error : new Error(String(error))}
      // Not the boundary's own reset, which would show the page again without asking for the session again.
      onRetry={() => void router.invalidate()}
    />
  )
}
