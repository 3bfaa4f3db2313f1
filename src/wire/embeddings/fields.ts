// Every known field of an embeddings request, and what translation does with it.
import type { FieldTable } from '../fields.ts'

export const EMBEDDING_FIELDS: FieldTable = {
  model: 'read',
  input: 'read',
  dimensions: 'read',
  encoding_format: 'read',
  user: { drop: 'there is no field for it; it is kept in the usage record' },
}
