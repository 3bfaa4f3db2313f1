// What the gateway found wrong with one field of what was sent.
import { ApiError } from '../api.ts'
import { said } from '../i18n/said.ts'

export function problemOf(error: Error | null, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const problem = error.problems.find((each) => each.field.split('.')[0] === field)
  return problem && said(problem)
}
