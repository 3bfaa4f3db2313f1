// Asks before a form with unsaved changes is left, whether by a link of the interface or by closing the page.
import { useBlocker } from '@tanstack/react-router'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'

/** Renders the question only when a navigation is blocked. */
export function LeaveQuestion({ isDirty }: { readonly isDirty: boolean }) {
  const { t } = useTranslation()
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <ConfirmDialog
      title={t('leave.title')}
      action={t('leave.action')}
      isDangerous
      onConfirm={blocker.proceed}
      onCancel={blocker.reset}
    >
      <p>{t('leave.effect')}</p>
    </ConfirmDialog>
  )
}
