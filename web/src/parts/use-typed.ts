// What is typed into a filter: it counts a moment after the last letter, and follows the address, which may change without
// the field: "Clear filters", or the browser's way back.
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
