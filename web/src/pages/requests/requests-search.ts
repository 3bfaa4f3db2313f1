// The state of the requests page as it stands in the address.
import { z } from 'zod'
import { keyId } from '../../../../src/admin/contract/values.ts'
import { day, endOfDay, startOfDay } from '../../days.ts'

export const OUTCOMES = ['ok', 'failed'] as const

export const requestsSearch = z.object({
  key: keyId.optional().catch(undefined),
  model: z.string().max(200).optional().catch(undefined),
  outcome: z.enum(OUTCOMES).optional().catch(undefined),
  from: day,
  to: day,
})
export type RequestsSearch = z.output<typeof requestsSearch>

export function requestQueryOf({ from, to, ...rest }: RequestsSearch) {
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}
