// Add to a key's budget once, until its period ends.
import { TextInput, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { useKeyMutation } from '../use-key-mutation.ts'
import { readAmount } from '../../../amounts.ts'
import type { KeyDialogProps } from './dialog-props.ts'

export function TopUpDialog({ keyInBrief, onClose }: KeyDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { id, name, limit, resets_at: resetsAt } = keyInBrief
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const amount = readAmount(typed)
  const topUp = useKeyMutation({
    change: (given: string) =>
      call(keyRoutes.topUpKey, { params: { id }, body: { amount: given, reason }, idempotencyKey }),
    said: (key) => t('topUp.done', { name, limit: format.money(key.limit ?? '0') }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('topUp.title', { name })}
      action={t('topUp.action')}
      isReady={amount !== undefined && Number(amount) > 0 && reason.trim() !== ''}
      onConfirm={() => amount !== undefined && topUp.mutate(amount)}
      onCancel={onClose}
      isPending={topUp.isPending}
      error={topUp.error}
    >
      <p>
        {t('topUp.effect', {
          limit: format.money(limit ?? '0'),
          moment: resetsAt ? format.dateTime(resetsAt) : t('budget.neverResets'),
        })}
      </p>
      <TextInput
        label={t('topUp.amount')}
        required
        data-autofocus
        inputMode="decimal"
        leftSection="$"
        value={typed}
        error={typed !== '' && amount === undefined && t('form.amount')}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Textarea
        label={t('topUp.reason')}
        required
        maxLength={2_000}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
