// A list of many boxes or buttons as one tab stop: Tab goes to the one that had the focus last, arrows move between them.
import { type FocusEvent, type KeyboardEvent, useLayoutEffect, useRef } from 'react'

/** For the element around them; `selector` finds them in it. */
export function useOneStop<List extends HTMLElement>(selector: string) {
  const list = useRef<List>(null)
  const place = useRef(0)
  const all = () => [...(list.current?.querySelectorAll<HTMLElement>(selector) ?? [])]
  // After every render, because what is in the list may have changed.
  useLayoutEffect(() => {
    const items = all()
    const stop = items[Math.min(place.current, items.length - 1)]
    for (const item of items) item.tabIndex = item === stop ? 0 : -1
  })
  return {
    ref: list,
    onFocus: ({ target }: FocusEvent<List>) => {
      const items = all()
      const found = items.findIndex((item) => item === target)
      if (found < 0) return
      const before = items[place.current]
      if (before) before.tabIndex = -1
      target.tabIndex = 0
      place.current = found
    },
    onKeyDown: (event: KeyboardEvent<List>) => {
      const items = all()
      const last = items.length - 1
      const next = { ArrowDown: place.current + 1, ArrowUp: place.current - 1, Home: 0, End: last }[
        event.key
      ]
      const item = next === undefined ? undefined : items[Math.min(next, last)]
      if (!item || next === undefined || next < 0) return
      event.preventDefault()
      item.focus()
    },
  }
}
