// The state of the playground as it stands in the address.
import { z } from 'zod'
import { keyId } from '../../../../src/admin/contract/values.ts'

export const playgroundSearch = z.object({
  key: keyId.optional().catch(undefined),
  model: z.string().max(200).optional().catch(undefined),
})
export type PlaygroundSearch = z.output<typeof playgroundSearch>
