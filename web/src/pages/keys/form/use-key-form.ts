// The state of the key form, and how the gateway's fields are found in it.
import { useTranslation } from '../../../i18n/i18n.ts'
import { type CheckedForm, useCheckedForm } from '../../../parts/form/checked-form.ts'
import { isShown, type KeyFormValues, problemsOf } from './form-values.ts'

export type KeyForm = CheckedForm<KeyFormValues>

export function useKeyForm(initialValues: KeyFormValues): KeyForm {
  const words = useTranslation()
  return useCheckedForm<KeyFormValues>({
    initialValues,
    problemsOf: (values) => problemsOf(values, words, Date.now()),
    isShown,
    fieldOf,
  })
}

/** Maps `models.3` to the models, and the expiry to the field that sets it: the last day or the lifetime. */
function fieldOf(path: string, { lifetime }: KeyFormValues): string {
  const [field = ''] = path.split('.')
  if (field !== 'expires_at') return field
  return lifetime === 'date' ? 'lastDay' : 'lifetime'
}

export type FieldsProps = Pick<KeyForm, 'form'>
