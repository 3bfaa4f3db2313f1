// The state of the key form: values, their problems, and the number of refused submits.
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '../../../base/api.ts'
import { said, useTranslation } from '../../../i18n/i18n.ts'
import type { FieldError } from '../../../parts/notices.tsx'
import { type Field, isShown, type KeyFormValues, problemsOf } from './form-values.ts'

export type KeyForm = {
  readonly form: UseFormReturnType<KeyFormValues>
  /** For the summary above the form. */
  readonly errors: readonly FieldError[]
  readonly refusals: number
  /** Validates the values and calls `onGood` if they pass. */
  readonly submit: (onGood: (values: KeyFormValues) => void) => void
  /** Shows the gateway's refusal beside the fields it names; false if it names none. */
  readonly refuse: (error: Error) => boolean
}

export const fieldId = (field: Field): string => `key-${field}`

export function useKeyForm(initialValues: KeyFormValues): KeyForm {
  const words = useTranslation()
  const { t } = words
  const [refusals, setRefusals] = useState(0)
  const form = useForm<KeyFormValues>({
    initialValues,
    validate: (values) => problemsOf(values, words, Date.now()),
    validateInputOnBlur: true,
  })
  return {
    form,
    errors: Object.entries(form.errors)
      .filter(([name]) => isShown(name, form.values))
      .map(([name, message]) => ({
        fieldId: fieldId(name as Field),
        label: t(`keyForm.field.${name as Field}`),
        message: typeof message === 'string' ? message : '',
      })),
    refusals,
    submit: (onGood) => {
      if (form.validate().hasErrors) setRefusals(refusals + 1)
      else onGood(form.values)
    },
    refuse: (error) => {
      const problems = error instanceof ApiError ? error.problems : []
      const known = problems
        .map((problem) => [formField(problem.field, form.values), said(problem)] as const)
        .filter(([field]) => field in form.values)
      if (known.length === 0) return false
      form.setErrors(Object.fromEntries(known))
      setRefusals(refusals + 1)
      return true
    },
  }
}

/** Maps `models.3` to the models, and the expiry to the field that sets it: the last day or the lifetime. */
function formField(path: string, { lifetime }: KeyFormValues): string {
  const [field = ''] = path.split('.')
  if (field !== 'expires_at') return field
  return lifetime === 'date' ? 'lastDay' : 'lifetime'
}

export type FieldsProps = { readonly form: UseFormReturnType<KeyFormValues> }

/** What every field of the form is given: its id, its label, its value and what is wrong with it. */
export function useKeyField({ form }: FieldsProps) {
  const { t } = useTranslation()
  return (field: Field) => ({
    id: fieldId(field),
    label: t(`keyForm.field.${field}`),
    ...form.getInputProps(field),
  })
}
