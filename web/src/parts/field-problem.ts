// The gateway's message about one field of a request.
import { ApiError } from '../api.ts'
import { said } from '../i18n/said.ts'

export function problemOf(error: Error | null, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const problem = error.problems.find((each) => each.field.split('.')[0] === field)
  return problem && said(problem)
}

/** The error, unless all its problems already show beside these fields. */
export function unplaced(error: Error | null, fields: readonly string[]): Error | null {
  if (!(error instanceof ApiError) || error.problems.length === 0) return error
  const isPlaced = error.problems.every(({ field }) => fields.includes(field.split('.')[0] ?? ''))
  return isPlaced ? null : error
}
