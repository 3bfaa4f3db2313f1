// Starts a new period for a key now. The ledger keeps what was spent.
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { ReasonField } from '../../../parts/reason-field.tsx'
import { useChange } from '../../../use-change.ts'
import { madeOldByKey } from '../key-in-brief.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function ResetDialog({ keyInBrief: { id, name, spent }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useChange(madeOldByKey, {
    change: () => call(keyRoutes.resetKey, { params: { id }, body: { reason }, idempotencyKey }),
    said: () => t('reset.done', { name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('reset.title', { name })}
      action={t('reset.action')}
      isDangerous
      isReady={reason.trim() !== ''}
      onConfirm={() => reset.mutate()}
      onCancel={onClose}
      isPending={reset.isPending}
      error={reset.error}
    >
      <p>{t('reset.effect', { spent: format.money(spent) })}</p>
      <ReasonField label={t('reset.reason')} value={reason} onChange={setReason} />
    </ConfirmDialog>
  )
}
