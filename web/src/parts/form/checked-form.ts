// The state of a form that checks many fields before it is sent: values, their problems, and how often it was refused.
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '../../base/api.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import type { FieldError } from '../notices.tsx'
import type { AccountValues } from './account-values.ts'

type FieldOf<Values> = keyof Values & string

export type CheckedForm<Values> = {
  readonly form: UseFormReturnType<Values>
  /** For the summary above the form. */
  readonly errors: readonly FieldError[]
  readonly refusals: number
  /** Validates the values and calls `onGood` if they pass. */
  readonly submit: (onGood: (values: Values) => void) => void
  /** Shows the gateway's refusal beside the fields it names; false if it names none. */
  readonly refuse: (error: Error) => boolean
}

type Rules<Values> = {
  readonly initialValues: Values
  /** One message per field. */
  readonly problemsOf: (values: Values) => Partial<Record<string, string>>
  readonly isShown: (field: string, values: Values) => boolean
  /** The field of the form that a field of the request came from: `models.3` came from the models. */
  readonly fieldOf: (path: string, values: Values) => string
}

export const fieldId = (field: string): string => `field-${field}`

export function useCheckedForm<Values extends Readonly<Record<string, unknown>>>(
  rules: Rules<Values>,
): CheckedForm<Values> {
  const { initialValues, problemsOf, isShown, fieldOf } = rules
  const label = useFieldLabel()
  const [refusals, setRefusals] = useState(0)
  const form = useForm<Values>({
    initialValues,
    validate: (values) => problemsOf(values),
    validateInputOnBlur: true,
  })
  return {
    form,
    errors: Object.entries(form.errors)
      .filter(([name]) => isShown(name, form.values))
      .map(([name, message]) => ({
        fieldId: fieldId(name),
        label: label(name),
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
        .map((problem) => [fieldOf(problem.field, form.values), said(problem)] as const)
        .filter(([field]) => field in form.values)
      if (known.length === 0) return false
      form.setErrors(Object.fromEntries(known))
      setRefusals(refusals + 1)
      return true
    },
  }
}

function useFieldLabel(): (field: string) => string {
  const { find } = useTranslation()
  return (field) => find(`keyForm.field.${field}`) ?? field
}

/** What every field of a form is given: its id, its label, its value and what is wrong with it. */
export function useField<Values>(form: FormOf<Values>) {
  const label = useFieldLabel()
  return (field: FieldOf<Values>) => ({
    id: fieldId(field),
    label: label(field),
    ...form.getInputProps(field),
  })
}

/** A form as far as the fields that keys and groups share need it. */
export type FormOf<Values> = {
  readonly values: Values
  readonly getInputProps: (
    field: FieldOf<Values>,
    options?: { readonly type?: 'input' | 'checkbox' },
  ) => InputProps
}

type InputProps = ReturnType<UseFormReturnType<Readonly<Record<string, unknown>>>['getInputProps']>

export type AccountForm = { readonly form: FormOf<AccountValues> }
