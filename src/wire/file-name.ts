// What a file is called, for providers that tell its kind by the end of its name and refuse a file whose name has none;
// and for those that take a text only without its name.
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

/** Undefined for files of other kinds than documents, sheets and texts. */
export function endingOf(mediaType: string): string | undefined {
  return ENDINGS.get(mediaType) ?? (isTextType(mediaType) ? TEXT : undefined)
}

/** The client's name for it, which may be a title as well, with an ending that fits. */
export function fileName({ name = 'document', source }: FilePart): string {
  const ending = source.type === 'base64' ? endingOf(source.mediaType) : undefined
  if (ending === undefined) return name
  // A text may be of any language, and each has an ending of its own.
  const isTold = ending === TEXT ? name.includes('.') : name.toLowerCase().endsWith(`.${ending}`)
  return isTold ? name : `${name}.${ending}`
}

export function belowTitle(text: string, title: string | undefined): string {
  return title === undefined ? text : `${title}\n\n${text}`
}
