// The key form in five groups, with a summary in words beside it. Creating and editing share it.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { FormErrorSummary } from '../../../parts/form-error-summary.tsx'
import { BudgetFields } from './budget-fields.tsx'
import { IdentityFields } from './identity-fields.tsx'
import { LifetimeFields } from './lifetime-fields.tsx'
import { LimitFields } from './limit-fields.tsx'
import { ModelPicker } from './model-picker.tsx'
import { Summary } from './summary.tsx'
import { fieldId } from './use-key-form.ts'
import type { KeyForm as KeyFormState } from './use-key-form.ts'
import styles from './key-form.module.css'

type KeyFormProps = {
  readonly state: KeyFormState
  readonly isNew: boolean
  readonly action: string
  readonly isPending: boolean
  readonly onSubmit: () => void
  readonly onCancel: () => void
  /** Shown above the buttons: why the last attempt failed. */
  readonly failure?: ReactNode
}

export function KeyForm(props: KeyFormProps) {
  const { state, isNew, action, isPending, onSubmit, onCancel, failure } = props
  const { form, errors, attempt } = state
  const { t } = useTranslation()
  return (
    <form
      noValidate
      className={styles['layout']}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div className={styles['groups']}>
        <FormErrorSummary errors={errors} attempt={attempt} />
        <Group name="identity">
          <IdentityFields form={form} isNew={isNew} />
        </Group>
        <Group name="models">
          <div id={fieldId('models')} tabIndex={-1}>
            <ModelPicker
              chosen={form.values.models}
              error={form.errors['models']}
              onChange={(models) => form.setFieldValue('models', [...models])}
            />
          </div>
        </Group>
        <Group name="budget">
          <BudgetFields form={form} />
        </Group>
        <Group name="limits">
          <LimitFields form={form} />
        </Group>
        <Group name="lifetime">
          <LifetimeFields form={form} />
        </Group>
        {failure}
        <div className={styles['buttons']}>
          <Button type="submit" size="md" loading={isPending}>
            {action}
          </Button>
          <Button variant="default" size="md" onClick={onCancel}>
            {t('dialog.cancel')}
          </Button>
        </div>
      </div>
      <Summary values={form.values} />
    </form>
  )
}

type GroupName = 'identity' | 'models' | 'budget' | 'limits' | 'lifetime'

function Group({ name, children }: { readonly name: GroupName; readonly children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <section className={`card ${styles['group']}`} aria-labelledby={`group-${name}`}>
      <h2 id={`group-${name}`}>{t(`keyForm.group.${name}.title`)}</h2>
      <p>{t(`keyForm.group.${name}.about`)}</p>
      {children}
    </section>
  )
}
