// The state of the requests page that is kept in the address.
import { z } from 'zod'
import { keyId } from '../../../../src/admin/contract/values.ts'
import { addressText } from '../../address-text.ts'
import { day, endOfDay, startOfDay } from '../../days.ts'
import { openRequest } from '../../requests/open-request.ts'

export const OUTCOMES = ['ok', 'failed'] as const

export const requestsSearch = z.object({
  open: openRequest,
  key: keyId.optional().catch(undefined),
  model: addressText,
  outcome: z.enum(OUTCOMES).optional().catch(undefined),
  from: day,
  to: day,
})
export type RequestsSearch = z.output<typeof requestsSearch>

export function requestQueryOf(search: RequestsSearch) {
  const { open: _, from, to, ...rest } = search
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}
