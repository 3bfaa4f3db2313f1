// A key of one's own: few fields, each as large as the rules of the group allow, and then its secret, once.
import { NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { OwnGroup } from '../../../../src/admin/contract/people.ts'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import type { AnswerOf } from '../../../../src/admin/contract/route.ts'
import { NAME_LENGTH_MAX } from '../../../../src/core/limits.ts'
import { PERIODS } from '../../../../src/core/periods.ts'
import { call, problemOf } from '../../base/api.ts'
import { modelsQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { useChange, useFields, useIdempotencyKey } from '../../parts/changes.tsx'
import { ConfirmDialog } from '../../parts/dialogs.tsx'
import form from '../../parts/form/form.module.css'
import { madeOldByKey } from '../keys/key-words.ts'
// Not loaded on demand: a secret that is shown once must not wait for a download.
import { SecretDialog } from '../keys/secret-dialog.tsx'
import { useRuleWords } from './group-rules.tsx'
import { lifetimesOf, ownKeyOf, type OwnKeyValues, startValues } from './own-key-values.ts'

type NewOwnKeyProps = {
  /** Those in which the reader may have keys: at least one. */
  readonly groups: readonly OwnGroup[]
  readonly onClose: () => void
}

export function NewOwnKeyDialog({ groups, onClose }: NewOwnKeyProps) {
  const { t } = useTranslation()
  const [id, setId] = useState(groups[0]?.id)
  const [created, setCreated] = useState<AnswerOf<typeof keyRoutes.createKey>>()
  const group = groups.find((each) => each.id === id)
  if (created) return <SecretDialog created={created} reason="created" onClose={onClose} />
  if (!group) return null
  const groupField = groups.length > 1 && (
    <NativeSelect
      label={t('keyForm.field.group')}
      value={id}
      onChange={({ currentTarget }) => setId(currentTarget.value)}
      data={groups.map((each) => ({ value: each.id, label: each.name }))}
    />
  )
  return (
    <Fields
      key={id}
      group={group}
      groupField={groupField}
      onCreated={setCreated}
      onClose={onClose}
    />
  )
}

type FieldsProps = {
  readonly group: OwnGroup
  readonly groupField: ReactNode
  readonly onCreated: (created: AnswerOf<typeof keyRoutes.createKey>) => void
  readonly onClose: () => void
}

const placed = ['name', 'environment', 'models', 'budget', 'period', 'expires_at']

function Fields({ group, groupField, onCreated, onClose }: FieldsProps) {
  const { t, format } = useTranslation()
  const { separators } = format
  const { values, set, text } = useFields(startValues(group, separators))
  const keyFor = useIdempotencyKey()
  const body = ownKeyOf(group, values, { now: Date.now(), separators })
  const create = useChange(madeOldByKey, {
    change: async () => {
      if (!body) throw new Error('the form is not complete')
      // The moment of the expiry moves on: a repeat must be the same request.
      const idempotencyKey = keyFor({ ...body, expires_at: values.days })
      return call(keyRoutes.createKey, { body, idempotencyKey })
    },
    onAnswer: onCreated,
  })
  const { error } = create
  return (
    <ConfirmDialog
      title={t('keyForm.createTitle')}
      action={t('overview.create')}
      effect={useRuleWords()(group).join(' · ')}
      isReady={body !== undefined}
      change={create}
      placed={placed}
      onCancel={onClose}
    >
      <Stack>
        {groupField}
        <TextInput
          label={t('keyForm.field.name')}
          description={t('myKeys.nameHint')}
          required
          data-autofocus
          autoComplete="off"
          maxLength={NAME_LENGTH_MAX}
          {...text('name', error)}
        />
        <ModelsField
          group={group}
          chosen={values.models}
          error={problemOf(error, 'models')}
          onChange={(models) => set({ models })}
        />
        <BudgetFields group={group} text={text} error={error} />
        <div className={form['pair']}>
          <EnvironmentField group={group} {...text('environment', error)} />
          <LifetimeField group={group} {...text('days')} error={problemOf(error, 'expires_at')} />
        </div>
      </Stack>
    </ConfirmDialog>
  )
}

type BudgetFieldsProps = Pick<FieldsProps, 'group'> & {
  readonly text: ReturnType<typeof useFields<OwnKeyValues>>['text']
  readonly error: Error | null
}

/** The period of the largest budget is the only one that members may have. */
function BudgetFields({ group, text, error }: BudgetFieldsProps) {
  const { t } = useTranslation()
  const isFixed = (group.key_rules?.budget_max ?? null) !== null
  return (
    <div className={form['pair']}>
      <TextInput
        label={t('keyForm.field.budget')}
        leftSection="$"
        inputMode="decimal"
        required
        autoComplete="off"
        {...text('budget', error)}
      />
      <NativeSelect
        label={t('keyForm.field.period')}
        disabled={isFixed}
        data={PERIODS.map((value) => ({ value, label: t(`period.${value}`) }))}
        {...text('period', error)}
      />
    </div>
  )
}

type ModelsFieldProps = {
  readonly group: OwnGroup
  readonly chosen: readonly string[]
  readonly error: string | undefined
  readonly onChange: (models: readonly string[]) => void
}

/** Those that the group allows. */
function ModelsField({ group: { models: ceiling }, chosen, error, onChange }: ModelsFieldProps) {
  const { t } = useTranslation()
  const { data: models = [], isError } = useQuery(modelsQuery)
  const offered = models.map(({ id }) => id).filter((id) => ceiling?.includes(id) ?? true)
  return (
    <TagsInput
      label={t('keyForm.field.models')}
      required
      clearable
      clearButtonProps={{ 'aria-label': t('filter.clear', { filter: t('keyForm.field.models') }) }}
      data={offered}
      value={[...chosen]}
      error={isError ? t('picker.failed') : error}
      onChange={(names) => onChange(names.filter((name) => offered.includes(name)))}
    />
  )
}

type ChoiceProps = Pick<FieldsProps, 'group'> &
  ReturnType<ReturnType<typeof useFields<OwnKeyValues>>['text']>

/** One of those that the rules name, or any. */
function EnvironmentField({ group, ...field }: ChoiceProps) {
  const { t } = useTranslation()
  const label = t('keyForm.field.environment')
  const names = group.key_rules?.environments ?? null
  return names === null ? (
    <TextInput label={label} maxLength={NAME_LENGTH_MAX} {...field} />
  ) : (
    <NativeSelect label={label} data={names} {...field} />
  )
}

function LifetimeField({ group, ...field }: ChoiceProps) {
  const { t } = useTranslation()
  const wordsOf = (days: string) =>
    days === '' ? t('keyForm.lifetime.never') : t('myKeys.days', { count: Number(days) })
  return (
    <NativeSelect
      label={t('keyForm.field.lifetime')}
      data={lifetimesOf(group).map((days) => ({ value: days, label: wordsOf(days) }))}
      {...field}
    />
  )
}
