// Whether the reader came to this view from another view of the interface. Only then may its heading take the focus: on
// the first view the focus belongs where the browser puts it, before the skip link.
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
