// The fields that the forms of keys and of groups share: the budget and when it resets, a second window, what one request
// may cost, and rates.
import { NativeSelect, Select, Stack, Switch, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { PERIODS, WEEK_STARTS } from '../../../../src/core/periods.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { timezones, useNextReset } from '../budgets.tsx'
import { type AccountForm, fieldId, type FormOf, useField } from './checked-form.ts'
import styles from './form.module.css'

type MainBudgetProps = AccountForm & {
  readonly hint: string
  /** What the amount would mean, if that is surprising. */
  readonly warning?: ReactNode
}

export function MainBudgetFields({ form, hint, warning }: MainBudgetProps) {
  const { t } = useTranslation()
  const nextReset = useNextReset(form.values)
  return (
    <>
      <Switch
        id={fieldId('hasOwnLimit')}
        label={t('keyForm.field.hasOwnLimit')}
        description={hint}
        {...form.getInputProps('hasOwnLimit', { type: 'checkbox' })}
      />
      <div className={styles['pair']}>
        {form.values.hasOwnLimit && <AmountField form={form} field="budget" />}
        <PeriodField form={form} field="period" />
      </div>
      <p className={styles['hint']}>{nextReset}</p>
      {warning}
      <Calendar form={form} />
    </>
  )
}

type FieldProps<Values> = {
  readonly form: FormOf<Values>
  readonly field: keyof Values & string
}

export function AmountField<Values>({ form, field }: FieldProps<Values>) {
  return (
    <TextInput
      {...useField(form)(field)}
      leftSection="$"
      inputMode="decimal"
      autoComplete="off"
      required
    />
  )
}

export function PeriodField<Values>({ form, field }: FieldProps<Values>) {
  const { t } = useTranslation()
  return (
    <NativeSelect
      {...useField(form)(field)}
      data={PERIODS.map((value) => ({ value, label: t(`period.${value}`) }))}
    />
  )
}

/** Inherited from the frame, so it is seldom changed. */
function Calendar({ form }: AccountForm) {
  const { t } = useTranslation()
  const field = useField(form)
  return (
    <details className={styles['more']}>
      <summary>{t('keyForm.calendar', { timezone: form.values.timezone })}</summary>
      <div className={styles['pair']}>
        <Select {...field('timezone')} searchable allowDeselect={false} data={timezones} />
        {[form.values.period, form.values.windowPeriod].includes('week') && (
          <NativeSelect
            {...field('week_start')}
            data={WEEK_STARTS.map((value) => ({ value, label: t(`keyForm.weekStart.${value}`) }))}
          />
        )}
      </div>
    </details>
  )
}

/** A second budget for another period, such as a day within the month. */
export function WindowFields({ form }: AccountForm) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm">
      <Switch
        id={fieldId('hasWindow')}
        label={t('keyForm.field.hasWindow')}
        description={t('keyForm.hint.hasWindow')}
        {...form.getInputProps('hasWindow', { type: 'checkbox' })}
      />
      {form.values.hasWindow && (
        <div className={styles['pair']}>
          <AmountField form={form} field="window" />
          <PeriodField form={form} field="windowPeriod" />
        </div>
      )}
    </Stack>
  )
}

/** What one request may cost, and how fast and how many there may be. */
export function RateFields({ form }: AccountForm) {
  const { t } = useTranslation()
  const field = useField(form)
  return (
    <>
      <div className={styles['pair']}>
        {(['rpm', 'tpm', 'concurrency'] as const).map((rate) => (
          <TextInput
            key={rate}
            {...field(rate)}
            placeholder={t('keyForm.noLimit')}
            inputMode="numeric"
            autoComplete="off"
          />
        ))}
      </div>
      <div className={styles['pair']}>
        <TextInput
          {...field('request_cost_max')}
          description={t('keyForm.hint.request_cost_max')}
          placeholder={t('keyForm.noLimit')}
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
        />
      </div>
    </>
  )
}
