// A toolbar filter by first or last day. Uses the browser's own date field, which is accessible everywhere.
import { TextInput } from '@mantine/core'

type DayFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (day: string | undefined) => void
}

export function DayFilter({ label, value, onChange }: DayFilterProps) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === '' ? undefined : currentTarget.value)
      }
    />
  )
}
