// Images and files: base64 and the data URLs that carry it, checked before they are sent, because a provider's error
// about bad base64 is far less clear; their media types; their names.
import { invalidRequest } from '../../core/errors.ts'
import type { AudioPart, Base64Source, FilePart, UrlSource } from '../../core/request.ts'
import { expect } from '../json/expect.ts'

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export function expectBase64(value: unknown, place: string): string {
  const text = expect.text(value, place)
  if (text.length % 4 === 0 && BASE64.test(text)) return text
  throw invalidRequest(place, `${place} must be base64 without line breaks`)
}

/** Where an image or a file is: inside the request as a data URL, or at a URL that the provider fetches. */
export function decodeUrl(value: unknown, place: string): Base64Source | UrlSource {
  const url = expect.text(value, place)
  if (url.startsWith('data:')) return decodeDataUrl(url, place)
  if (url.startsWith('https://') || url.startsWith('http://')) return { type: 'url', url }
  throw invalidRequest(place, `${place} must be an http URL or a data URL`)
}

export function decodeDataUrl(value: unknown, place: string): Base64Source {
  const url = expect.text(value, place)
  const comma = url.indexOf(',')
  const head = url.slice(0, Math.max(comma, 0))
  if (!head.startsWith('data:') || !head.endsWith(';base64')) {
    throw invalidRequest(place, `${place} must be a data URL like data:image/png;base64,…`)
  }
  const mediaType = usualType(head.slice('data:'.length, -';base64'.length).split(';')[0] ?? '')
  if (!mediaType.includes('/')) {
    throw invalidRequest(place, `${place} must name a media type, such as data:image/png;base64,…`)
  }
  return { type: 'base64', mediaType, data: expectBase64(url.slice(comma + 1), place) }
}

/** Sound, as both formats of the chat family write it. */
export function decodeAudio(value: unknown, place: string): AudioPart {
  const audio = expect.placed(value, place)
  const data = audio.get('data', expectBase64)
  return { type: 'audio', data, encoding: audio.get('format', expect.name) }
}

/** Many clients write `image/jpg`, which some providers accept and others refuse. */
export function usualType(mediaType: string): string {
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
}

export function isTextType(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json'
}

export function encodeUrl(source: Base64Source | UrlSource): string {
  return source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
}

/** The media type that a data URL declares; undefined for other URLs, which declare none. */
export function dataType(url: unknown): string | undefined {
  const type = typeof url === 'string' ? /^\s*data:([^;,]*)/i.exec(url)?.[1] : undefined
  return type?.trim().toLowerCase()
}

/** The media type of what is at a URL, for providers that must be told: by the end of its path, else the usual one. */
export function typeOfUrl(kind: 'image' | 'file', url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : ''
  const ending = /\.([a-z]{2,4})$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  if (kind === 'image') return IMAGE_ENDINGS.includes(ending) ? `image/${ending}` : 'image/jpeg'
  return FILE_TYPES.get(ending) ?? 'application/pdf'
}

/** What the ends of names stand for, among what models read. */
const IMAGE_ENDINGS: readonly string[] = ['png', 'webp', 'gif', 'bmp', 'heic', 'heif']
const FILE_TYPES: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain'],
  ['md', 'text/plain'],
  ['htm', 'text/html'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ...['csv', 'html', 'xml', 'rtf', 'css'].map((ending) => [ending, `text/${ending}`] as const),
])

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

/** The client's name for the file, with a fitting extension: some providers infer its kind from that, or refuse it. */
export function fileName({ name = 'document', source }: FilePart): string {
  const ending = source.type === 'base64' ? endingOf(source.mediaType) : undefined
  if (ending === undefined) return name
  // A text may be source code in any language, each with its own extension.
  const isTold = ending === TEXT ? name.includes('.') : name.toLowerCase().endsWith(`.${ending}`)
  return isTold ? name : `${name}.${ending}`
}

/** For providers that accept a text only without its name. */
export function belowTitle(text: string, title: string | undefined): string {
  return title === undefined ? text : `${title}\n\n${text}`
}
