// Waits for a condition: a test polls for it instead of sleeping for as long as it usually takes.
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_EVERY_MS = 20

/** Looks until there is something, and returns it. If it never comes, the runner's own time limit ends the test. */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
): Promise<Exclude<Seen, false | undefined>> {
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== undefined) return seen as Exclude<Seen, false | undefined>
    await pause(LOOK_EVERY_MS)
  }
}
