// Asks before a destination is removed.
import { alertRoutes } from '../../../../src/admin/contract/alerts.ts'
import type { DestinationAnswer } from '../../../../src/admin/contract/alerts.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useChange } from '../../use-change.ts'
import { madeOldByAlerts } from './alert-queries.ts'

type RemoveDestinationDialogProps = {
  readonly destination: DestinationAnswer
  readonly onClose: () => void
}

export function RemoveDestinationDialog({ destination, onClose }: RemoveDestinationDialogProps) {
  const { t } = useTranslation()
  const { id, address } = destination
  const remove = useChange(madeOldByAlerts, {
    change: () => call(alertRoutes.deleteDestination, { params: { id } }),
    said: () => t('alerts.removed', { address }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('alerts.removeWhat', { address })}
      action={t('alerts.remove')}
      isDangerous
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>{t('alerts.removeEffect')}</p>
    </ConfirmDialog>
  )
}
