// Asks for an amount and a reason to add to a budget once, until its period ends: of a key or of the frame.
import { TextInput, Textarea } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { readAmount } from '../amounts.ts'
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

export type TopUp = { readonly amount: string; readonly reason: string }

type TopUpDialogProps = {
  readonly title: string
  readonly limit: string
  readonly resetsAt: string | null
  readonly timezone: string
  readonly topUp: UseMutationResult<unknown, Error, TopUp>
  readonly onClose: () => void
}

export function TopUpDialog({
  title,
  limit,
  resetsAt,
  timezone,
  topUp,
  onClose,
}: TopUpDialogProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const amount = readAmount(typed)
  return (
    <ConfirmDialog
      title={title}
      action={t('topUp.action')}
      isReady={amount !== undefined && Number(amount) > 0 && reason.trim() !== ''}
      onConfirm={() => amount !== undefined && topUp.mutate({ amount, reason })}
      onCancel={onClose}
      isPending={topUp.isPending}
      error={topUp.error}
    >
      <p>
        {t('topUp.effect', {
          limit: format.money(limit),
          moment: resetsAt ? format.dateTimeIn(resetsAt, timezone) : t('budget.neverResets'),
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
