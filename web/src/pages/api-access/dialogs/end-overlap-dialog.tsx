// Ends the old secret of a rotated key early.
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call } from '../../../api.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { useChange } from '../../../use-change.ts'
import { madeOldByKey } from '../key-in-brief.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function EndOverlapDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const { id, name, old_secret: old } = keyInBrief
  const end = useChange(madeOldByKey, {
    change: () => call(keyRoutes.endOverlap, { params: { id } }),
    said: () => t('endOverlap.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('endOverlap.title', { name })}
      action={t('endOverlap.action')}
      isDangerous
      onConfirm={() => end.mutate()}
      onCancel={onClose}
      isPending={end.isPending}
      error={end.error}
    >
      <p>{t('endOverlap.effect', { masked: old?.masked ?? '' })}</p>
    </ConfirmDialog>
  )
}
