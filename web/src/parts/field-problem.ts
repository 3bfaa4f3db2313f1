// What the gateway found wrong with one field of what was sent.
import { ApiError } from '../api.ts'

export function problemOf(error: Error | null, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.problems.find((problem) => problem.field.split('.')[0] === field)?.message
}
