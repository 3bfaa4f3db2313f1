// A wall clock that a test can set for a gateway, even while it runs.
import { writeFileSync } from 'node:fs'

export type WrongClock = {
  /** For the gateway's environment. */
  readonly env: Readonly<Record<string, string>>
  /** From now on the gateway takes this for the present time. */
  set(at: number): void
}

/** `file`: where it is kept; `shiftMs`: how wrong it is to begin with. */
export function wrongClock(file: string, shiftMs = 0): WrongClock {
  writeFileSync(file, String(shiftMs))
  const preload = new URL('./set-clock.ts', import.meta.url).href
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, CLOCK_FILE: file },
    set: (at) => writeFileSync(file, String(at - Date.now())),
  }
}
