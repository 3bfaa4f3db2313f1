// Deciding on a wish: grant it, or a part of it, or decline it with a reason.
import { TagsInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type WishAnswer, wishRoutes } from '../../../../src/admin/contract/people.ts'
import { TEXT_LENGTH_MAX } from '../../../../src/core/limits.ts'
import { call, problemOf } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { readAmount, typedAmount } from '../../i18n/typed-numbers.ts'
import { useChange, useFields } from '../../parts/changes.tsx'
import { ConfirmDialog, ReasonField } from '../../parts/dialogs.tsx'
import { madeOldByWish, useWantedWords } from './wish-words.ts'

type DecisionProps = {
  readonly verb: 'grant' | 'decline'
  readonly wish: WishAnswer
  readonly onClose: () => void
}

export function DecisionDialog({ verb, ...props }: DecisionProps) {
  return verb === 'grant' ? <GrantDialog {...props} /> : <DeclineDialog {...props} />
}

type DialogProps = Omit<DecisionProps, 'verb'>

/** What is emptied is not given. */
function GrantDialog({ wish, onClose }: DialogProps) {
  const { t, format } = useTranslation()
  const { separators } = format
  const { id, key, person, wanted } = wish
  const { values, set, text } = useFields({
    budget: wanted.budget === undefined ? '' : typedAmount(wanted.budget, separators),
    models: wanted.models ?? [],
    day: wanted.expires_at?.slice(0, 10) ?? '',
    reason: '',
  })
  const budget = values.budget.trim() === '' ? null : readAmount(values.budget, separators)
  const expiry = values.day === '' ? null : expiryOf(wanted.expires_at, values.day)
  const grant = useChange(madeOldByWish, {
    change: () =>
      call(wishRoutes.grantWish, {
        params: { id },
        body: {
          ...{ budget, models: values.models, expires_at: expiry },
          ...(values.reason.trim() !== '' && { reason: values.reason }),
        },
      }),
    said: () => t('wishes.grantDone', { name: key.name }),
    onDone: onClose,
  })
  const { error } = grant
  return (
    <ConfirmDialog
      title={t('wishes.grantTitle', { name: key.name })}
      action={t('wishes.grant')}
      effect={t('wishes.grantEffect', { email: person.email })}
      isReady={budget !== undefined}
      change={grant}
      placed={['budget', 'models', 'expires_at', 'reason']}
      onCancel={onClose}
    >
      {wanted.budget !== undefined && (
        <TextInput
          label={`${t('keyForm.field.budget')}, ${t(`periodShort.${key.period}`)}`}
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          {...text('budget', error)}
        />
      )}
      {wanted.models !== undefined && (
        <TagsInput
          label={t('keyForm.field.models')}
          data={[...wanted.models]}
          value={[...values.models]}
          error={problemOf(error, 'models')}
          onChange={(names) =>
            set({ models: wanted.models?.filter((name) => names.includes(name)) })
          }
        />
      )}
      {wanted.expires_at !== undefined && (
        <TextInput
          label={t('column.expires')}
          type="date"
          {...text('day')}
          error={problemOf(error, 'expires_at')}
        />
      )}
      <Textarea label={t('wishes.note')} maxLength={TEXT_LENGTH_MAX} {...text('reason', error)} />
    </ConfirmDialog>
  )
}

/** The same moment if the day is that which was asked for, else its end. */
function expiryOf(asked: string | undefined, day: string): string {
  return asked?.startsWith(day) ? asked : new Date(`${day}T23:59:59`).toISOString()
}

function DeclineDialog({ wish, onClose }: DialogProps) {
  const { t } = useTranslation()
  const { id, key, person, wanted } = wish
  const [reason, setReason] = useState('')
  const decline = useChange(madeOldByWish, {
    change: () => call(wishRoutes.declineWish, { params: { id }, body: { reason } }),
    said: () => t('wishes.declineDone', { name: key.name }),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      title={t('wishes.declineTitle', { name: key.name, wanted: useWantedWords()(wish, wanted) })}
      action={t('wishes.decline')}
      effect={t('wishes.declineEffect', { email: person.email })}
      isReady={reason.trim() !== ''}
      change={decline}
      placed={['reason']}
      onCancel={onClose}
    >
      <ReasonField
        label={t('reset.reason')}
        error={problemOf(decline.error, 'reason')}
        value={reason}
        onChange={setReason}
      />
    </ConfirmDialog>
  )
}
