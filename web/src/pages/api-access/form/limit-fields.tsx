// The key's rate limits and the endpoints it may call.
import { Checkbox, Stack, TextInput } from '@mantine/core'
import { ENDPOINTS } from '../../../../../src/core/endpoints.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import type { FieldsProps } from './field-props.ts'
import styles from './key-form.module.css'
import { fieldId } from './use-key-form.ts'

export function LimitFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Stack>
      <div className={styles['pair']}>
        {(['rpm', 'tpm', 'concurrency'] as const).map((field) => (
          <TextInput
            key={field}
            id={fieldId(field)}
            label={t(`keyForm.field.${field}`)}
            placeholder={t('keyForm.noLimit')}
            inputMode="numeric"
            autoComplete="off"
            {...form.getInputProps(field)}
          />
        ))}
      </div>
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
