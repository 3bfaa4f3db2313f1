// A text in the address, such as what a list is narrowed by. One that is too long to be meant is dropped.
import { z } from 'zod'
import { FILTER_LENGTH_MAX } from '../../src/admin/contract/values.ts'

export const addressText = z.string().max(FILTER_LENGTH_MAX).optional().catch(undefined)
