// Asks those who manage the group for more than its rules allow: a larger budget, further models, a later expiry.
import { TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { wishRoutes } from '../../../../src/admin/contract/people.ts'
import { call, problemOf } from '../../base/api.ts'
import { keyQuery, modelsQuery } from '../../base/queries.ts'
import type { Separators } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { amountProblem, readAmount } from '../../i18n/typed-numbers.ts'
import { useChange, useFields, useIdempotencyKey } from '../../parts/changes.tsx'
import { ConfirmDialog, ReasonField } from '../../parts/dialogs.tsx'
import { madeOldByWish } from '../wishes/wish-words.ts'

type AskDialogProps = { readonly row: KeyRow; readonly onClose: () => void }

export function AskDialog({ row, onClose }: AskDialogProps) {
  const words = useTranslation()
  const { t, format } = words
  const { separators } = format
  const { id, name, group, budget: present, expires_at: expiry } = row
  const { values, set, text } = useFields(nothing)
  const keyFor = useIdempotencyKey()
  const hasBudget = values.budget.trim() !== ''
  const body = bodyOf(values, separators)
  const ask = useChange(madeOldByWish, {
    change: () =>
      call(wishRoutes.addWish, { params: { id }, body, idempotencyKey: keyFor([id, body]) }),
    said: () => t('wishes.askDone'),
    onDone: onClose,
  })
  const { error } = ask
  return (
    <ConfirmDialog
      title={t('wishes.askTitle', { name })}
      action={t('wishes.ask')}
      effect={t('wishes.askEffect', { group: group?.name ?? '' })}
      isReady={isComplete(values, separators)}
      change={ask}
      placed={['budget', 'models', 'expires_at', 'reason']}
      onCancel={onClose}
    >
      {present !== null && (
        <TextInput
          label={`${t('keyForm.field.budget')}, ${t(`periodShort.${row.period}`)}`}
          description={t('wishes.now', { now: format.money(present) })}
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          {...text('budget', error)}
          error={problemOf(error, 'budget') ?? (hasBudget && amountProblem(values.budget, words))}
        />
      )}
      <FurtherModels
        id={id}
        chosen={values.models}
        error={problemOf(error, 'models')}
        onChange={(models) => set({ models })}
      />
      {expiry !== null && (
        <TextInput
          label={t('wishes.lastDay')}
          description={t('wishes.now', { now: format.date(expiry) })}
          type="date"
          {...text('day')}
          error={problemOf(error, 'expires_at')}
        />
      )}
      <ReasonField
        label={t('reset.reason')}
        description={t('wishes.reasonHint')}
        error={problemOf(error, 'reason')}
        value={values.reason}
        onChange={(reason) => set({ reason })}
      />
    </ConfirmDialog>
  )
}

type Asked = {
  /** As typed, like the others; empty: as it is. */
  readonly budget: string
  readonly models: readonly string[]
  readonly day: string
  readonly reason: string
}

const nothing: Asked = { budget: '', models: [], day: '', reason: '' }

function bodyOf({ budget, models, day, reason }: Asked, separators: Separators) {
  return {
    ...(budget.trim() !== '' && { budget: readAmount(budget, separators) }),
    ...(models.length > 0 && { models: [...models] }),
    ...(day !== '' && { expires_at: new Date(`${day}T23:59:59`).toISOString() }),
    reason,
  }
}

function isComplete(asked: Asked, separators: Separators): boolean {
  const { budget, models, day, reason } = asked
  const isReadable = budget.trim() === '' || readAmount(budget, separators) !== undefined
  const isMore = budget.trim() !== '' || models.length > 0 || day !== ''
  return reason.trim() !== '' && isReadable && isMore
}

type FurtherModelsProps = {
  readonly id: string
  readonly chosen: readonly string[]
  readonly error: string | undefined
  readonly onChange: (models: readonly string[]) => void
}

/** Those that the key may not call yet. */
function FurtherModels({ id, chosen, error, onChange }: FurtherModelsProps) {
  const { t } = useTranslation()
  const key = useQuery({ ...keyQuery(id), refetchInterval: false })
  const { data: models = [] } = useQuery(modelsQuery)
  const known = key.data?.models ?? []
  const offered = models.map((model) => model.id).filter((model) => !known.includes(model))
  return (
    <TagsInput
      label={t('wishes.models')}
      data={offered}
      value={[...chosen]}
      error={error}
      onChange={(names) => onChange(names.filter((name) => offered.includes(name)))}
    />
  )
}
