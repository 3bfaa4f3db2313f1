// File names, for providers that infer a file's kind from its extension and refuse a file without one; and titles, for
// those that accept a text only without its name.
import type { FilePart } from '../core/request.ts'
import { isTextType } from './media.ts'

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
])

const TEXT = 'txt'

/** Undefined for files other than documents, sheets and texts. */
export function endingOf(mediaType: string): string | undefined {
  return ENDINGS.get(mediaType) ?? (isTextType(mediaType) ? TEXT : undefined)
}

/** The client's name for the file, which may be only a title, with a fitting extension. */
export function fileName({ name = 'document', source }: FilePart): string {
  const ending = source.type === 'base64' ? endingOf(source.mediaType) : undefined
  if (ending === undefined) return name
  // A text may be source code in any language, each with its own extension.
  const isTold = ending === TEXT ? name.includes('.') : name.toLowerCase().endsWith(`.${ending}`)
  return isTold ? name : `${name}.${ending}`
}

export function belowTitle(text: string, title: string | undefined): string {
  return title === undefined ? text : `${title}\n\n${text}`
}
