// The sides on which a box that scrolls sideways hides content, so that it can show a hint.
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
  // In right-to-left scripts scrollLeft is negative, and at the end it may be a fraction of a pixel short.
  const passed = Math.abs(scrollLeft)
  const isStart = passed > 1
  const isEnd = scrollWidth - clientWidth - passed > 1
  if (isStart) return isEnd ? 'both' : 'start'
  return isEnd ? 'end' : 'none'
}
