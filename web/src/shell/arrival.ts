// Whether the reader came to this view from another one of the interface. Only then may its heading take the focus: on
// the first view of a visit the browser's own place, before the skip link, is right.
import type { AnyRouter } from '@tanstack/react-router'

let hasMoved = false

export function watchArrivals(router: AnyRouter): void {
  router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
    if (fromLocation && pathChanged) hasMoved = true
  })
}

export function cameFromAnotherView(): boolean {
  return hasMoved
}
