// How long the key works and when reminders are sent; the resulting date shows below the choice.
import { NativeSelect, Stack, TextInput } from '@mantine/core'
import { useFormat } from '../../../i18n/use-format.ts'
import { useNow } from '../../../i18n/use-now.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { AlertFields } from './alert-fields.tsx'
import type { FieldsProps } from './field-props.ts'
import { expiryOf, isShown, LIFETIMES } from './form-values.ts'
import styles from './key-form.module.css'
import { fieldId } from './use-key-form.ts'

export function LifetimeFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const expiry = expiryOf(form.values, now)
  return (
    <Stack>
      <div className={styles['pair']}>
        <NativeSelect
          id={fieldId('lifetime')}
          label={t('keyForm.field.lifetime')}
          data={LIFETIMES.map((value) => ({ value, label: t(`keyForm.lifetime.${value}`) }))}
          {...form.getInputProps('lifetime')}
        />
        {isShown('lastDay', form.values) && (
          <TextInput
            id={fieldId('lastDay')}
            label={t('keyForm.field.lastDay')}
            type="date"
            required
            {...form.getInputProps('lastDay')}
          />
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
