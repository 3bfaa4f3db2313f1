// What the address keeps of a list of requests, for all keys and for one.
import { z } from 'zod'

export const REQUEST_OUTCOMES = ['ok', 'failed'] as const

export const requestId = z.string().regex(/^req_[0-9a-z]{26}$/)

export const requestFields = {
  outcome: z.enum(REQUEST_OUTCOMES).optional().catch(undefined),
  /** The request open beside the list. */
  open: requestId.optional().catch(undefined),
}
