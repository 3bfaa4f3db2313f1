// The form of a group: who it is, what its keys may spend and call together, and what members may choose. Creating and
// editing share it.
import { Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { budgetWarning } from '../../base/amounts.ts'
import { frameQuery } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { readAmount } from '../../i18n/typed-numbers.ts'
import { AmountField, MainBudgetFields } from '../../parts/form/account-fields.tsx'
import { PeriodField, RateFields, WindowFields } from '../../parts/form/account-fields.tsx'
import {
  type CheckedForm,
  fieldId,
  useCheckedForm,
  useField,
} from '../../parts/form/checked-form.ts'
import { FieldGroup, type FormProps, FormShell } from '../../parts/form/form-shell.tsx'
import styles from '../../parts/form/form.module.css'
import { ModelPicker } from '../../parts/form/model-picker.tsx'
import { Notice } from '../../parts/notices.tsx'
import { groupProblems, type GroupValues, isShown, RULE_COUNTS } from './group-values.ts'

export function useGroupForm(initialValues: GroupValues): CheckedForm<GroupValues> {
  const words = useTranslation()
  return useCheckedForm<GroupValues>({
    initialValues,
    problemsOf: (values) => groupProblems(values, words),
    isShown,
    fieldOf: (path) => path.replace(/^key_rules\./, '').split('.')[0] ?? '',
  })
}

export function GroupForm(props: FormProps<CheckedForm<GroupValues>>) {
  const { form } = props.state
  const { t } = useTranslation()
  return (
    <FormShell {...props}>
      <FieldGroup words="groupForm.group.identity">
        <IdentityFields form={form} />
      </FieldGroup>
      <FieldGroup words="groupForm.group.budget">
        <Stack>
          <MainBudgetFields
            form={form}
            hint={t('groupForm.hasOwnLimit')}
            warning={<BudgetWarning values={form.values} />}
          />
          <WindowFields form={form} />
        </Stack>
      </FieldGroup>
      <FieldGroup words="groupForm.group.limits">
        <Stack>
          <RateFields form={form} />
        </Stack>
      </FieldGroup>
      <FieldGroup words="groupForm.group.models">
        <CeilingFields form={form} />
      </FieldGroup>
      <FieldGroup words="groupForm.group.rules">
        <RuleFields form={form} />
      </FieldGroup>
    </FormShell>
  )
}

type FieldsProps = Pick<CheckedForm<GroupValues>, 'form'>

function IdentityFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  const field = useField<GroupValues>(form)
  return (
    <Stack>
      <TextInput
        {...field('name')}
        description={t('groupForm.nameHint')}
        required
        autoComplete="off"
      />
      <Textarea {...field('description')} autosize minRows={2} />
    </Stack>
  )
}

function BudgetWarning({ values }: { readonly values: GroupValues }) {
  const words = useTranslation()
  const frame = useQuery(frameQuery)
  const amount = values.hasOwnLimit ? readAmount(values.budget, words.format.separators) : undefined
  const warning = amount === undefined ? undefined : budgetWarning(amount, words, frame.data)
  return warning === undefined ? null : <Notice tone="warn">{warning}</Notice>
}

function CeilingFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Stack>
      <Switch
        id={fieldId('hasCeiling')}
        label={t('keyForm.field.hasCeiling')}
        description={t('groupForm.hasCeiling')}
        {...form.getInputProps('hasCeiling', { type: 'checkbox' })}
      />
      {form.values.hasCeiling && (
        <div id={fieldId('models')} tabIndex={-1}>
          <ModelPicker
            chosen={form.values.models}
            nothing={t('groupForm.noModels')}
            error={form.errors['models']}
            onChange={(models) => form.setFieldValue('models', [...models])}
          />
        </div>
      )}
    </Stack>
  )
}

const environments = ['production', 'staging', 'development']

function RuleFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  const field = useField<GroupValues>(form)
  return (
    <Stack>
      <Switch
        id={fieldId('self_service')}
        label={t('keyForm.field.self_service')}
        description={t('groupForm.selfService')}
        {...form.getInputProps('self_service', { type: 'checkbox' })}
      />
      <Switch
        id={fieldId('hasBudgetMax')}
        label={t('keyForm.field.hasBudgetMax')}
        description={t('groupForm.hasBudgetMax')}
        {...form.getInputProps('hasBudgetMax', { type: 'checkbox' })}
      />
      {form.values.hasBudgetMax && (
        <div className={styles['pair']}>
          <AmountField form={form} field="budget_max" />
          <PeriodField form={form} field="budgetMaxPeriod" />
        </div>
      )}
      {RULE_COUNTS.map((together) => (
        <div key={together[0]} className={styles['pair']}>
          {together.map((rule) => (
            <TextInput
              key={rule}
              {...field(rule)}
              placeholder={t('keyForm.noLimit')}
              inputMode="numeric"
              autoComplete="off"
            />
          ))}
        </div>
      ))}
      <TagsInput
        {...field('environments')}
        description={t('groupForm.environments')}
        data={environments}
      />
    </Stack>
  )
}
