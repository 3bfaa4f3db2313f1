// Calendar days in the reader's time zone, and the moments at which they start and end. Pure.
import { z } from 'zod'

/** A day as a date input writes it: 2026-11-15. */
export const day = z.iso.date().optional().catch(undefined)

/** The first moment of a day. */
export function startOfDay(chosen: string | undefined): string | undefined {
  return chosen === undefined ? undefined : new Date(`${chosen}T00:00:00`).toISOString()
}

/** The first moment after a day. */
export function endOfDay(chosen: string | undefined): string | undefined {
  if (chosen === undefined) return undefined
  const next = new Date(`${chosen}T00:00:00`)
  next.setDate(next.getDate() + 1)
  return next.toISOString()
}
