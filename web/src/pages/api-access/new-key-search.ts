// What a link to the form may fill in beforehand, so that a team can keep its usual settings as a bookmark.
import { z } from 'zod'

const text = z.string().max(200).optional().catch(undefined)
const list = z.array(z.string().max(200)).max(1_000).optional().catch(undefined)

export const newKeySearch = z.object({
  /** A key whose settings are taken over. */
  from: text,
  name: text,
  owner: text,
  environment: text,
  models: list,
  tags: list,
  budget: z.coerce.string().max(20).optional().catch(undefined),
})
export type NewKeySearch = z.output<typeof newKeySearch>
