// The document formats that Converse accepts, by its names for them.
import type { FilePart } from '../../core/request.ts'
import { endingOf } from '../file-name.ts'

/** Undefined for any other file. A URL, whose format is unknown, passes here and is refused as a URL. */
export function documentFormat(source: FilePart['source']): string | undefined {
  return source.type === 'base64' ? endingOf(source.mediaType) : 'txt'
}
