// A text parameter in the address, such as a list's filter. A text that is implausibly long is dropped.
import { z } from 'zod'
import { FILTER_LENGTH_MAX } from '../../src/admin/contract/values.ts'

export const addressText = z.string().max(FILTER_LENGTH_MAX).optional().catch(undefined)
