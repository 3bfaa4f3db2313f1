// Converts between the values of the contract and those of the store: money, moments, versions.
import { BUDGET_MAX, formatUsd, parseBudget, type Nanodollars } from '../core/money.ts'
import { sentence } from '../core/sentences.ts'
import { AdminError, invalidValue } from './error.ts'
import type { RequestHeaders } from './identity.ts'

/** Parses an amount; the error names the field. */
export function readAmount(field: string, text: string): Nanodollars {
  try {
    return parseBudget(text)
  } catch (error) {
    if (error instanceof RangeError)
      throw invalidValue(field, sentence('budget_range', { most: formatUsd(BUDGET_MAX) }))
    throw error
  }
}

/** A change without any field is a mistake. */
export function refuseEmpty(body: object): void {
  if (Object.keys(body).length > 0) return
  throw new AdminError('invalid_value', sentence('nothing_to_change'))
}

/** The version that a change is based on: `"7"`, the ETag of the answer that showed it. */
export function ifMatch(headers: RequestHeaders): number {
  const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(String(headers['if-match'] ?? ''))
  if (match !== null) return Number(match[1])
  throw new AdminError('version_required', sentence('version_needed'))
}

export function etag(version: number): string {
  return `"${version}"`
}
