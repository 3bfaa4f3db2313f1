// Start a key's period anew, now. The ledger keeps what was spent.
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { useKeyMutation } from '../use-key-mutation.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function ResetDialog({ keyInBrief: { id, name, spent }, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useKeyMutation({
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
      <Textarea
        label={t('reset.reason')}
        required
        maxLength={2_000}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
