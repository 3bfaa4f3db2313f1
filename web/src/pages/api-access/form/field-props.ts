// The props of every group of fields.
import type { UseFormReturnType } from '@mantine/form'
import type { KeyFormValues } from './form-values.ts'

export type FieldsProps = { readonly form: UseFormReturnType<KeyFormValues> }
