// The JSON forms of a key and of the frame (design 2.1), for the command line, the admin API and /v1/key alike.
import { formatUsd, type Nanodollars } from '../core/money.ts'
import type { Frame } from './frame.ts'
import type { Key } from './keys.ts'

export type KeyJson = ReturnType<typeof keyJson>
export type FrameJson = ReturnType<typeof frameJson>

export function keyJson(key: Key) {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    environment: key.environment,
    owner: key.owner,
    description: key.description,
    tags: key.tags,
    status: key.status,
    models: key.models,
    permissions: key.permissions,
    budget: usd(key.limitNanodollars),
    period: key.period,
    timezone: key.timezone,
    week_start: key.weekStart,
    spent: formatUsd(key.spentNanodollars),
    held: formatUsd(key.heldNanodollars),
    remaining: usd(key.remainingNanodollars),
    resets_at: iso(key.resetsAt),
    rpm: key.rpm,
    tpm: key.tpm,
    concurrency: key.concurrency,
    when_tight: key.whenTight,
    created_at: iso(key.createdAt),
    expires_at: iso(key.expiresAt),
    last_used_at: iso(key.lastUsedAt),
  }
}

export function frameJson(frame: Frame) {
  return {
    budget: formatUsd(frame.limitNanodollars),
    period: frame.period,
    timezone: frame.timezone,
    week_start: frame.weekStart,
    spent: formatUsd(frame.spentNanodollars),
    held: formatUsd(frame.heldNanodollars),
    remaining: formatUsd(frame.remainingNanodollars),
    resets_at: iso(frame.resetsAt),
    allocated: formatUsd(frame.allocatedNanodollars),
  }
}

/** Null: there is no limit. */
function usd(amount: Nanodollars | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

function iso(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
