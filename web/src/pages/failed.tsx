// Shown instead of a page that could not be loaded.
import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from '../i18n/use-translation.ts'
import { ErrorAlert } from '../parts/error-alert.tsx'
import { Notice } from '../parts/notice.tsx'

/** The messages of browsers for a script, and of Vite for a style sheet, that could not be fetched. */
const NOT_FETCHED = /dynamically imported module|importing a module script|preload css/i

export function FailedPage({ error }: ErrorComponentProps) {
  const { t } = useTranslation()
  const router = useRouter()
  // The gateway is down or has been updated: only a reload finds the current files.
  if (NOT_FETCHED.test(String(error)))
    return (
      <Notice
        tone="bad"
        title={t('error.page')}
        actions={
          <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>
            {t('error.reload')}
          </Button>
        }
        announce
      >
        {t('error.notFetched')}
      </Notice>
    )
  return (
    <ErrorAlert
      title={t('error.page')}
      error={error instanceof Error ? error : new Error(String(error))}
      // Not the boundary's own reset, which would show the page again without asking for the session again.
      onRetry={() => void router.invalidate()}
    />
  )
}
