// On which sides a box that scrolls sideways holds more than is seen, so that it can say so.
import { useCallback, useState } from 'react'

type HiddenSides = 'none' | 'start' | 'end' | 'both'

export function useHiddenSides() {
  const [hidden, setHidden] = useState<HiddenSides>('none')
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return undefined
    const look = () => setHidden(hiddenSides(box))
    const sizes = new ResizeObserver(look)
    for (const each of [box, ...box.children]) sizes.observe(each)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])
  return { ref, hidden }
}

function hiddenSides({ scrollLeft, scrollWidth, clientWidth }: HTMLElement): HiddenSides {
  // Where writing runs to the left, the distance from the start is told below zero; and at the end a part of a pixel may
  // be missing.
  const passed = Math.abs(scrollLeft)
  const isStart = passed > 1
  const isEnd = scrollWidth - clientWidth - passed > 1
  if (isStart) return isEnd ? 'both' : 'start'
  return isEnd ? 'end' : 'none'
}
