// The documents that Converse takes, by the formats it has names for.
import type { FilePart } from '../../core/request.ts'
import { endingOf } from '../file-name.ts'

/** Undefined for a file that is none of them. An address has no format, and is refused for that. */
export function documentFormat(source: FilePart['source']): string | undefined {
  return source.type === 'base64' ? endingOf(source.mediaType) : 'txt'
}
