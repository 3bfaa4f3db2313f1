// Waiting for what must come: a test looks for it, and does not sleep for as long as it usually takes.
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_EVERY_MS = 20

/** Looks until there is something, and returns it. What never comes is ended by the runner's own limit. */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
): Promise<Exclude<Seen, false | undefined>> {
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== undefined) return seen as Exclude<Seen, false | undefined>
    await pause(LOOK_EVERY_MS)
  }
}
