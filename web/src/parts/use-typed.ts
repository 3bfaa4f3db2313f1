// The text of a filter: applied shortly after the last keystroke, and updated from the address, which may change
// without the field, through "Clear filters" or the browser's back button.
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const typingMs = 250

export function useTyped(value: string, onChange: (value: string | undefined) => void) {
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
  const type = (text: string) => {
    setTyped(text)
    send(text.trim())
  }
  return { typed, type }
}
