// What the key may spend on single models: one line each, of a model, an amount and a period.
import { ActionIcon, Button, NativeSelect, Stack, TextInput } from '@mantine/core'
import { MODEL_BUDGETS_MAX } from '../../../../../src/core/limits.ts'
import { PERIODS } from '../../../../../src/core/periods.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { fieldId } from '../../../parts/form/checked-form.ts'
import styles from '../../../parts/form/form.module.css'
import { CrossIcon, PlusIcon } from '../../../parts/icons.tsx'
import type { FieldsProps } from './use-key-form.ts'

export function CapFields({ form }: FieldsProps) {
  const { t } = useTranslation()
  const { model_budgets: caps, models } = form.values
  const free = models.filter((model) => !caps.some((cap) => cap.model === model))
  const error = form.errors['model_budgets']
  return (
    <fieldset
      className={styles['list']}
      id={fieldId('model_budgets')}
      tabIndex={-1}
      aria-describedby={error ? capsErrorId : undefined}
    >
      <legend>{t('keyForm.field.model_budgets')}</legend>
      <p className={styles['hint']}>
        {t('keyForm.hint.model_budgets')} {models.length === 0 && t('keyForm.hint.noModels')}
      </p>
      <Stack gap="xs">
        {caps.map((cap, index) => (
          // The place is the identity of a line.
          <CapLine key={index} form={form} index={index} offered={[cap.model, ...free]} />
        ))}
        {error && (
          <p id={capsErrorId} className={styles['error']}>
            {error}
          </p>
        )}
        {caps.length < MODEL_BUDGETS_MAX && free.length > 0 && (
          <div>
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<PlusIcon />}
              onClick={() =>
                form.insertListItem('model_budgets', {
                  model: free[0] ?? '',
                  budget: '',
                  period: form.values.period,
                })
              }
            >
              {t('keyForm.addCap')}
            </Button>
          </div>
        )}
      </Stack>
    </fieldset>
  )
}

const capsErrorId = 'caps-error'

type CapLineProps = FieldsProps & {
  readonly index: number
  readonly offered: readonly string[]
}

function CapLine({ form, index, offered }: CapLineProps) {
  const { t } = useTranslation()
  const path = `model_budgets.${index}`
  const model = form.values.model_budgets[index]?.model ?? ''
  return (
    <div className={styles['line']} role="group" aria-label={model}>
      <NativeSelect
        aria-label={t('requests.model')}
        data={[...offered]}
        {...form.getInputProps(`${path}.model`)}
      />
      <TextInput
        aria-label={t('keyForm.field.budget')}
        leftSection="$"
        inputMode="decimal"
        autoComplete="off"
        {...form.getInputProps(`${path}.budget`)}
      />
      <NativeSelect
        aria-label={t('keyForm.field.period')}
        data={PERIODS.map((value) => ({ value, label: t(`period.${value}`) }))}
        {...form.getInputProps(`${path}.period`)}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('keyForm.removeCap', { model })}
        onClick={() => form.removeListItem('model_budgets', index)}
      >
        <CrossIcon size={14} />
      </ActionIcon>
    </div>
  )
}
