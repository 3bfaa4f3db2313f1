// The key form in five groups, with a summary in words beside it. Creating and editing share it.
import {
  Autocomplete,
  Checkbox,
  NativeSelect,
  Radio,
  Stack,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { ENDPOINTS } from '../../../../../src/core/endpoints.ts'
import { useNow } from '../../../i18n/format.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { RateFields } from '../../../parts/form/account-fields.tsx'
import { fieldId, useField } from '../../../parts/form/checked-form.ts'
import { FieldGroup, type FormProps, FormShell } from '../../../parts/form/form-shell.tsx'
import styles from '../../../parts/form/form.module.css'
import { ModelPicker } from '../../../parts/form/model-picker.tsx'
import { AlertFields, BudgetFields } from './budget-fields.tsx'
import { expiryOf, isShown, type KeyFormValues, LIFETIMES } from './form-values.ts'
import { CeilingNotice, GroupField } from './group-fields.tsx'
import { AlertWords, ExpiryWords, LimitWords, Summary } from './summary.tsx'
import type { FieldsProps, KeyForm as KeyFormState } from './use-key-form.ts'

type KeyFormProps = FormProps<KeyFormState> & { readonly isNew: boolean }

export function KeyForm({ isNew, ...shell }: KeyFormProps) {
  const { form } = shell.state
  const { t } = useTranslation()
  return (
    <FormShell {...shell} aside={<Summary values={form.values} />}>
      <FieldGroup words="keyForm.group.identity">
        <IdentityFields form={form} isNew={isNew} />
      </FieldGroup>
      <FieldGroup words="keyForm.group.models">
        <CeilingNotice values={form.values} />
        <div id={fieldId('models')} tabIndex={-1}>
          <ModelPicker
            chosen={form.values.models}
            nothing={t('picker.nothing')}
            error={form.errors['models']}
            onChange={(models) => form.setFieldValue('models', [...models])}
          />
        </div>
      </FieldGroup>
      <FieldGroup words="keyForm.group.budget">
        <BudgetFields form={form} />
      </FieldGroup>
      {isShown('alert_thresholds', form.values) && (
        <FieldGroup words="keyForm.group.alerts" brief={<AlertWords values={form.values} />}>
          <AlertFields form={form} field="alert_thresholds" />
        </FieldGroup>
      )}
      <FieldGroup words="keyForm.group.limits" brief={<LimitWords values={form.values} />}>
        <LimitFields form={form} />
      </FieldGroup>
      <FieldGroup words="keyForm.group.lifetime" brief={<ExpiryWords values={form.values} />}>
        <LifetimeFields form={form} />
      </FieldGroup>
    </FormShell>
  )
}

const environments = ['production', 'staging', 'development']

/** Whose key it is and what it is for, so that people can tell keys apart without their secrets. */
function IdentityFields({ form, isNew }: FieldsProps & { readonly isNew: boolean }) {
  const { t } = useTranslation()
  const field = useField<KeyFormValues>(form)
  return (
    <Stack>
      <TextInput
        {...field('name')}
        description={t('keyForm.hint.name')}
        required
        autoComplete="off"
      />
      <GroupField form={form} />
      <div className={styles['pair']}>
        <TextInput {...field('owner')} placeholder="payments@example.com" autoComplete="off" />
        <Autocomplete {...field('environment')} data={environments} placeholder="production" />
      </div>
      <Textarea {...field('description')} autosize minRows={2} />
      <TagsInput {...field('tags')} description={t('keyForm.hint.tags')} />
      {isNew && <ModeField form={form} />}
    </Stack>
  )
}

const modes = ['live', 'test'] as const

function ModeField({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Radio.Group label={t('keyForm.field.mode')} {...form.getInputProps('mode')}>
      <div className={styles['pair']}>
        {modes.map((mode) => (
          <Radio
            key={mode}
            mt="xs"
            value={mode}
            label={t(`keyForm.mode.${mode}`)}
            description={t(`keyForm.modeHint.${mode}`)}
          />
        ))}
      </div>
    </Radio.Group>
  )
}

function LimitFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Stack>
      <RateFields form={form} />
      <Checkbox.Group
        label={t('keyForm.field.permissions')}
        description={t('keyForm.hint.permissions')}
        {...form.getInputProps('permissions')}
      >
        <div className={styles['pair']} id={fieldId('permissions')} tabIndex={-1}>
          {ENDPOINTS.map((endpoint) => (
            <Checkbox key={endpoint} value={endpoint} label={t(`endpoint.${endpoint}`)} mt="xs" />
          ))}
        </div>
      </Checkbox.Group>
    </Stack>
  )
}

/** How long the key works and when reminders are sent; the resulting date shows below the choice. */
function LifetimeFields({ form }: FieldsProps) {
  const { t, format } = useTranslation()
  const field = useField<KeyFormValues>(form)
  const now = useNow()
  const expiry = expiryOf(form.values, now)
  return (
    <Stack>
      <div className={styles['pair']}>
        <NativeSelect
          {...field('lifetime')}
          data={LIFETIMES.map((value) => ({ value, label: t(`keyForm.lifetime.${value}`) }))}
        />
        {isShown('lastDay', form.values) && (
          <TextInput {...field('lastDay')} type="date" required />
        )}
      </div>
      <p className={styles['hint']}>
        {expiry === null
          ? t('keyForm.hint.neverExpires')
          : t('keyForm.hint.expires', { moment: format.dateTime(expiry) })}
      </p>
      {isShown('expiry_reminders', form.values) && (
        <AlertFields form={form} field="expiry_reminders" />
      )}
    </Stack>
  )
}
