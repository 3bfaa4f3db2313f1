// The request open beside a list, as kept in the address.
import { z } from 'zod'

export const requestId = z.string().regex(/^req_[0-9a-z]{26}$/)

export const openRequest = requestId.optional().catch(undefined)
