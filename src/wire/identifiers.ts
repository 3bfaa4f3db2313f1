// Names that clients choose and providers limit in length. One that is too long is replaced by its hash, so that the
// same name always becomes the same identifier and different users, caches and calls stay distinct.
import { createHash } from 'node:crypto'

/** OpenAI's limit for the name of a user or a cache, in both of its formats. */
export const OPENAI_IDENTIFIER_CHARACTERS_MAX = 64

export function fitIdentifier(name: string, charactersMax: number): string {
  if (name.length <= charactersMax) return name
  return createHash('sha256').update(name).digest('hex').slice(0, charactersMax)
}
