// The names by which it may be known what a model takes: its own at the provider, and where that is anybody's choice, as
// the name of a deployment is, those of the model behind it.
import type { Conversation } from '../core/request.ts'

export type Addressee = Pick<Conversation, 'model' | 'nature'>

export function knownNames({ model, nature }: Addressee): readonly string[] {
  return [model, ...(nature?.alsoKnownAs ?? [])]
}
