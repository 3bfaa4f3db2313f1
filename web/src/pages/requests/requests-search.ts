// The state of the requests page that is kept in the address.
import { z } from 'zod'
import { keyId } from '../../../../src/admin/contract/values.ts'
import { addressText } from '../../address-text.ts'
import { day, endOfDay, startOfDay } from '../../days.ts'
import { requestFields } from '../../requests/request-fields.ts'

export const requestsSearch = z.object({
  ...requestFields,
  key: keyId.optional().catch(undefined),
  model: addressText,
  from: day,
  to: day,
})
export type RequestsSearch = z.output<typeof requestsSearch>

export function requestQueryOf(search: RequestsSearch) {
  const { open: _, from, to, ...rest } = search
  return { ...rest, since: startOfDay(from), until: endOfDay(to) }
}
