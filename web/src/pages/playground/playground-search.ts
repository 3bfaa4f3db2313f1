// The state of the playground that is kept in the address.
import { z } from 'zod'
import { keyId } from '../../../../src/admin/contract/values.ts'
import { addressText } from '../../address-text.ts'

export const playgroundSearch = z.object({
  key: keyId.optional().catch(undefined),
  model: addressText,
})
export type PlaygroundSearch = z.output<typeof playgroundSearch>
