// The documents that Converse takes, by the formats it has names for.
import type { FilePart } from '../../core/request.ts'
import { isTextType } from '../media.ts'

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
])

/** Undefined for a file that is none of them. An address has no format, and is refused for that. */
export function documentFormat(source: FilePart['source']): string | undefined {
  if (source.type !== 'base64') return 'txt'
  return FORMATS.get(source.mediaType) ?? (isTextType(source.mediaType) ? 'txt' : undefined)
}
