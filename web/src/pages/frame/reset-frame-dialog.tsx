// Starts a new period for the frame now. The ledger keeps what was spent.
import { useState } from 'react'
import { frameRoutes } from '../../../../src/admin/contract/frame.ts'
import { call, newIdempotencyKey } from '../../api.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { ReasonField } from '../../parts/reason-field.tsx'
import { useChange } from '../../use-change.ts'
import { madeOldByFrame } from './made-old.ts'
import type { FrameDialogProps } from './edit-frame-dialog.tsx'

export function ResetFrameDialog({ frame, onClose }: FrameDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useChange(madeOldByFrame, {
    change: () => call(frameRoutes.resetFrame, { body: { reason }, idempotencyKey }),
    said: () => t('framePage.resetDone'),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('framePage.resetTitle')}
      action={t('reset.action')}
      isDangerous
      isReady={reason.trim() !== ''}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
      isPending={reset.isPending}
      error={reset.error}
    >
      <p>{t('framePage.resetEffect', { spent: format.money(frame.spent) })}</p>
      <ReasonField label={t('reset.reason')} value={reason} onChange={setReason} />
    </ConfirmDialog>
  )
}
