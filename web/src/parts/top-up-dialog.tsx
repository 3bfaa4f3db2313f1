// Asks for an amount and a reason to add to a budget once, until its period ends; for a key or the frame.
import { TextInput } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { amountProblem, readAmount } from '../i18n/typed-numbers.ts'
import { useWords } from '../i18n/use-words.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { ReasonField } from './reason-field.tsx'

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
  const words = useWords()
  const { t, format } = words
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const amount = readAmount(typed, format.separators)
  const isZero = amount !== undefined && Number(amount) === 0
  const problem = isZero ? t('topUp.aboveZero') : amountProblem(typed, words)
  return (
    <ConfirmDialog
      title={title}
      action={t('topUp.action')}
      onConfirm={() => {
        setTried(true)
        if (amount !== undefined && !problem && reason.trim() !== '')
          topUp.mutate({ amount, reason })
      }}
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
        error={(isTried || typed !== '') && problem}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <ReasonField
        label={t('topUp.reason')}
        value={reason}
        error={isTried && reason.trim() === '' && t('topUp.reasonNeeded')}
        onChange={setReason}
      />
    </ConfirmDialog>
  )
}
