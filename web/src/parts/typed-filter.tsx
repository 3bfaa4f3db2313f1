// A filter that is typed: it counts a moment after the last letter, and follows the address when that changes by itself.
import { Autocomplete } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { FILTER_LENGTH_MAX } from '../../../src/admin/contract/values.ts'

type TypedFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly suggestions?: readonly string[]
  readonly placeholder?: string
}

const typingMs = 300
const suggestedMax = 50

export function TypedFilter(props: TypedFilterProps) {
  const { label, value = '', onChange, suggestions = [], placeholder } = props
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((text: string) => {
    sent.current = text
    onChange(text === '' ? undefined : text)
  }, typingMs)
  useEffect(() => {
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      maxLength={FILTER_LENGTH_MAX}
      value={typed}
      data={[...suggestions]}
      limit={suggestedMax}
      onChange={(text) => {
        setTyped(text)
        send(text.trim())
      }}
    />
  )
}
