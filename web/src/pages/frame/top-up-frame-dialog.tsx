// Add to the frame once, until its period ends.
import { TextInput, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { frameRoutes } from '../../../../src/admin/contract/frame.ts'
import { readAmount } from '../../amounts.ts'
import { call, newIdempotencyKey } from '../../api.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useChange } from '../../use-change.ts'
import { madeOldByFrame } from './made-old.ts'
import type { FrameDialogProps } from './frame.tsx'

export function TopUpFrameDialog({ frame, onClose }: FrameDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [idempotencyKey] = useState(newIdempotencyKey)
  const amount = readAmount(typed)
  const name = t('framePage.name')
  const topUp = useChange(madeOldByFrame, {
    change: (given: string) =>
      call(frameRoutes.topUpFrame, { body: { amount: given, reason }, idempotencyKey }),
    said: ({ limit }) => t('topUp.done', { name, limit: format.money(limit) }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('topUp.title', { name: t('framePage.nameObject') })}
      action={t('topUp.action')}
      isReady={amount !== undefined && Number(amount) > 0 && reason.trim() !== ''}
      onConfirm={() => amount !== undefined && topUp.mutate(amount)}
      onCancel={onClose}
      isPending={topUp.isPending}
      error={topUp.error}
    >
      <p>
        {t('topUp.effect', {
          limit: format.money(frame.limit),
          moment: frame.resets_at
            ? format.dateTimeIn(frame.resets_at, frame.timezone)
            : t('budget.neverResets'),
        })}
      </p>
      <TextInput
        label={t('topUp.amount')}
        required
        data-autofocus
        inputMode="decimal"
        autoComplete="off"
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
