// A text filter that suggests existing values.
import { Autocomplete } from '@mantine/core'
import { FILTER_LENGTH_MAX } from '../../../src/admin/contract/values.ts'
import { useTyped } from './use-typed.ts'

type TypedFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly suggestions?: readonly string[]
  readonly placeholder?: string
}

const suggestedMax = 50

export function TypedFilter(props: TypedFilterProps) {
  const { label, value = '', onChange, suggestions = [], placeholder } = props
  const { typed, type } = useTyped(value, onChange)
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      maxLength={FILTER_LENGTH_MAX}
      value={typed}
      data={[...suggestions]}
      limit={suggestedMax}
      onChange={type}
    />
  )
}
