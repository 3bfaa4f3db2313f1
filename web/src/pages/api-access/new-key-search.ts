// Values that a link to the form may fill in, so that a team can bookmark its usual settings.
import { z } from 'zod'
import { MODELS_MAX, NAME_LENGTH_MAX } from '../../../../src/core/limits.ts'
import { addressText } from '../../address-text.ts'

const list = z.array(z.string().max(NAME_LENGTH_MAX)).max(MODELS_MAX).optional().catch(undefined)

export const newKeySearch = z.object({
  /** The key whose settings are copied. */
  from: addressText,
  name: addressText,
  owner: addressText,
  environment: addressText,
  models: list,
  tags: list,
  budget: z.coerce.string().max(20).optional().catch(undefined),
})
export type NewKeySearch = z.output<typeof newKeySearch>
