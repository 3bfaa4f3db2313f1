// Whose key it is and what it is for, so that people can tell keys apart without their secrets.
import {
  Autocomplete,
  Input,
  SegmentedControl,
  Stack,
  TagsInput,
  TextInput,
  Textarea,
} from '@mantine/core'
import { useTranslation } from '../../../i18n/use-translation.ts'
import type { FieldsProps } from './field-props.ts'
import styles from './key-form.module.css'
import { fieldId } from './use-key-form.ts'

const environments = ['production', 'staging', 'development']

export function IdentityFields({ form, isNew }: FieldsProps & { readonly isNew: boolean }) {
  const { t } = useTranslation()
  return (
    <Stack>
      <TextInput
        id={fieldId('name')}
        label={t('keyForm.field.name')}
        description={t('keyForm.hint.name')}
        required
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <div className={styles['pair']}>
        <TextInput
          id={fieldId('owner')}
          label={t('keyForm.field.owner')}
          placeholder="payments@example.com"
          autoComplete="off"
          {...form.getInputProps('owner')}
        />
        <Autocomplete
          id={fieldId('environment')}
          label={t('keyForm.field.environment')}
          data={environments}
          placeholder="production"
          {...form.getInputProps('environment')}
        />
      </div>
      <Textarea
        id={fieldId('description')}
        label={t('keyForm.field.description')}
        autosize
        minRows={2}
        {...form.getInputProps('description')}
      />
      <TagsInput
        id={fieldId('tags')}
        label={t('keyForm.field.tags')}
        description={t('keyForm.hint.tags')}
        {...form.getInputProps('tags')}
      />
      {isNew && <ModeField form={form} />}
    </Stack>
  )
}

const modeLabelId = 'key-mode-label'

function ModeField({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Input.Wrapper
      label={t('keyForm.field.mode')}
      labelElement="div"
      labelProps={{ id: modeLabelId, display: 'block' }}
      description={t(`keyForm.modeHint.${form.values.mode}`)}
      inputWrapperOrder={['label', 'input', 'description']}
    >
      <SegmentedControl
        aria-labelledby={modeLabelId}
        data={[
          { value: 'live', label: t('keyForm.mode.live') },
          { value: 'test', label: t('keyForm.mode.test') },
        ]}
        {...form.getInputProps('mode')}
      />
    </Input.Wrapper>
  )
}
