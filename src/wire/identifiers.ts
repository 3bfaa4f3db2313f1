// Names that a client chose and a provider bounds in length. One that is too long is replaced by its hash, so that the
// same name always becomes the same identifier and still tells users, caches and calls apart.
import { createHash } from 'node:crypto'

export function fitIdentifier(name: string, charactersMax: number): string {
  if (name.length <= charactersMax) return name
  return createHash('sha256').update(name).digest('hex').slice(0, charactersMax)
}
