// Keyboard shortcuts: listed under "?", ignored while someone types, and can be turned off. A page marks the target of
// a shortcut in its markup: data-shortcut="c" is clicked, or focused if it is a field.
import { useLocalStorage } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { dialogOnDemand } from '../parts/on-demand.tsx'

const ShortcutList = dialogOnDemand(async () => (await import('./shortcut-list.tsx')).ShortcutList)

const marked = ['/', 'c', 'e'] as const

export function Shortcuts() {
  const [isListOpen, setListOpen] = useState(false)
  const [areOn, setOn] = useLocalStorage({ key: 'tollgate.shortcuts', defaultValue: true })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping() || isInDialog()) return
      if (event.key === '?') setListOpen(true)
      else if (!areOn || !act(event.key)) return
      event.preventDefault()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [areOn])
  if (!isListOpen) return null
  return <ShortcutList areOn={areOn} onSwitch={setOn} onClose={() => setListOpen(false)} />
}

/** False when this page has nothing for the key. */
function act(key: string): boolean {
  if (key === 'j' || key === 'k') return moveBetweenRows(key === 'j' ? 1 : -1)
  if (!marked.some((each) => each === key)) return false
  const target = document.querySelector<HTMLElement>(`[data-shortcut="${key}"]`)
  if (target instanceof HTMLInputElement) target.focus()
  else target?.click()
  return target !== null
}

/** Moves the focus from the link of one row to that of the next. */
function moveBetweenRows(step: number): boolean {
  const links = [...document.querySelectorAll<HTMLElement>('main tbody th a, main tbody th button')]
  const row = document.activeElement?.closest('tr')
  const at = links.findIndex((link) => row?.contains(link))
  const next = links[at === -1 && step < 0 ? links.length - 1 : at + step]
  next?.focus()
  return next !== undefined
}

function isTyping(): boolean {
  const focused = document.activeElement
  return focused !== null && focused.matches('input, textarea, select, [contenteditable]')
}

function isInDialog(): boolean {
  return document.querySelector('[role="dialog"], [role="menu"]') !== null
}
