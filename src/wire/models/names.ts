// Names that may show what a model accepts: its name at the provider and, where the operator chose that freely, as for
// a deployment, the names of the model behind it.
import type { Conversation } from '../../core/request.ts'

export type TargetModel = Pick<Conversation, 'model' | 'traits'>

export function knownNames({ model, traits }: TargetModel): readonly string[] {
  return [model, ...(traits?.alsoKnownAs ?? [])]
}
