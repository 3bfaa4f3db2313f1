// From a day, or up to one: a filter of a toolbar. The browser's own field, which every browser makes accessible.
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
