// Names that may show what a model accepts: its name at the provider and, where the operator chose that freely, as for
// a deployment, the names of the model behind it.
import type { Conversation } from '../../core/request.ts'

export type Addressee = Pick<Conversation, 'model' | 'nature'>

export function knownNames({ model, nature }: Addressee): readonly string[] {
  return [model, ...(nature?.alsoKnownAs ?? [])]
}
