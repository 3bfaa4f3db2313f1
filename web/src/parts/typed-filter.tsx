// A text filter that suggests existing values.
import { Autocomplete } from '@mantine/core'
import type { ReactNode } from 'react'
import { FILTER_LENGTH_MAX } from '../../../src/admin/contract/values.ts'
import { useTyped } from './use-typed.ts'

type TypedFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly suggestions?: readonly string[]
  readonly placeholder?: string
  readonly icon?: ReactNode
}

const suggestedMax = 50

export function TypedFilter(props: TypedFilterProps) {
  const { label, value = '', onChange, suggestions = [], placeholder, icon } = props
  const { typed, type } = useTyped(value, onChange)
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      leftSection={icon}
      maxLength={FILTER_LENGTH_MAX}
      value={typed}
      data={[...suggestions]}
      limit={suggestedMax}
      onChange={type}
    />
  )
}
