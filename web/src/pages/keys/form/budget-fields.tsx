// The key's own budget: how much, for which period, when alerts are given, and what happens when it is tight.
import { Radio, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { OUTPUT_MINIMUM, OUTPUT_MINIMUM_REASONING } from '../../../../../src/core/limits.ts'
import { budgetWarning } from '../../../base/amounts.ts'
import { frameQuery } from '../../../base/queries.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { readAmount } from '../../../i18n/typed-numbers.ts'
import { MainBudgetFields, WindowFields } from '../../../parts/form/account-fields.tsx'
import { useField } from '../../../parts/form/checked-form.ts'
import styles from '../../../parts/form/form.module.css'
import { Notice } from '../../../parts/notices.tsx'
import { destinationsQuery } from '../../alerts/alert-words.ts'
import { CapFields } from './cap-fields.tsx'
import { isShown, type KeyFormValues } from './form-values.ts'
import type { FieldsProps } from './use-key-form.ts'

export function BudgetFields({ form }: FieldsProps) {
  const { t, format } = useTranslation()
  return (
    <Stack>
      <MainBudgetFields
        form={form}
        hint={t('keyForm.hint.hasOwnLimit')}
        warning={<BudgetWarning values={form.values} />}
      />
      <WindowFields form={form} />
      <CapFields form={form} />
      {isShown('when_tight', form.values) && (
        <Radio.Group
          label={t('keyForm.field.when_tight')}
          description={t('keyForm.hint.when_tight')}
          {...form.getInputProps('when_tight')}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="cap"
              label={t('keyForm.whenTight.cap')}
              description={t('keyForm.whenTight.capAbout', {
                least: format.number(OUTPUT_MINIMUM),
                leastReasoning: format.number(OUTPUT_MINIMUM_REASONING),
              })}
            />
            <Radio value="refuse" label={t('keyForm.whenTight.refuse')} />
          </Stack>
        </Radio.Group>
      )}
    </Stack>
  )
}

function BudgetWarning({ values }: { readonly values: KeyFormValues }) {
  const words = useTranslation()
  const frame = useQuery(frameQuery)
  const amount = values.hasOwnLimit ? readAmount(values.budget, words.format.separators) : undefined
  const warning = amount === undefined ? undefined : budgetWarning(amount, words, frame.data)
  return warning === undefined ? null : <Notice tone="warn">{warning}</Notice>
}

const offered = {
  alert_thresholds: ['25', '50', '80', '90', '100'],
  expiry_reminders: ['60', '30', '14', '10', '7', '3', '1'],
} as const

type AlertFieldsProps = FieldsProps & { readonly field: keyof typeof offered }

/** When alerts are sent, as a list of numbers: shares of the budget, or days before the expiry. */
export function AlertFields({ form, field }: AlertFieldsProps) {
  const { t } = useTranslation()
  const answer = useQuery(destinationsQuery)
  const reached = answer.data?.destinations.filter(({ enabled }) => enabled).length
  return (
    <div>
      <TagsInput
        {...useField<KeyFormValues>(form)(field)}
        description={t('keyForm.hint.tags')}
        data={[...offered[field]]}
        inputMode="numeric"
      />
      {reached !== undefined && form.values[field].length > 0 && (
        <p className={styles['hint']}>
          {reached === 0 ? t('keyForm.hint.nobody') : t('keyForm.hint.alerts', { count: reached })}{' '}
          <Link to="/settings/alerts">{t('keyForm.hint.alertsLink')}</Link>
        </p>
      )}
    </div>
  )
}
