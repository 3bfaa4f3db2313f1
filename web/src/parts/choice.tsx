// A toolbar filter that chooses one of a few values, or any.
import { NativeSelect } from '@mantine/core'
import { useTranslation } from '../i18n/use-translation.ts'

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value | undefined
  readonly values: readonly Value[]
  readonly wordOf: (value: Value) => string
  readonly onChoose: (value: Value | undefined) => void
  /** There is no "any": a value is always chosen. */
  readonly isRequired?: boolean
}

export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, values, wordOf, onChoose, isRequired = false } = props
  const { t } = useTranslation()
  const any = isRequired ? [] : [{ value: '', label: t('filter.any') }]
  return (
    <NativeSelect
      label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) =>
        onChoose(values.find((each) => each === currentTarget.value))
      }
      data={[...any, ...values.map((each) => ({ value: each, label: wordOf(each) }))]}
    />
  )
}
