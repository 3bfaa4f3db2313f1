// The content parts of chat messages, by the role that may use them. Any other part is a 400 with its place.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, typeOf } from '../../core/json.ts'
import type { AssistantPart, FilePart, ImagePart, TextPart, UserPart } from '../../core/request.ts'
import { expectName, expectObject, expectText, optional, optionalText } from '../expect.ts'
import { decodeDataUrl, decodeUrl, expectBase64 } from '../media.ts'
import { markOf } from './tools-decode.ts'

export function decodeParts<Part>(
  content: Json | undefined,
  place: string,
  decodePart: (part: JsonObject, place: string) => Part,
): readonly (Part | TextPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isArray(content)) {
    throw invalidRequest(place, `${place} must be a string or a list of content parts`)
  }
  return content.map((part, index) => {
    const at = `${place}[${index}]`
    return decodePart(expectObject(part, at), at)
  })
}

export function decodeTextPart(part: JsonObject, place: string): TextPart {
  if (part['type'] !== 'text') throw unknownPart(part, place, 'text')
  return { type: 'text', text: expectText(part['text'], `${place}.text`), ...markOf(part, place) }
}

export function decodeToolPart(part: JsonObject, place: string): TextPart | ImagePart | FilePart {
  switch (typeOf(part)) {
    case 'image_url':
      return decodeImage(part, place)
    case 'file':
      return decodeFile(part, place)
    default:
      return decodeTextPart(part, place)
  }
}

export function decodeUserPart(part: JsonObject, place: string): UserPart {
  switch (typeOf(part)) {
    case 'text':
      return decodeTextPart(part, place)
    case 'image_url':
      return decodeImage(part, place)
    case 'file':
      return decodeFile(part, place)
    case 'input_audio': {
      const audio = expectObject(part['input_audio'], `${place}.input_audio`)
      return {
        type: 'audio',
        data: expectBase64(audio['data'], `${place}.input_audio.data`),
        encoding: expectName(audio['format'], `${place}.input_audio.format`),
      }
    }
    default:
      throw unknownPart(part, place, 'text, image_url, input_audio or file')
  }
}

export function decodeSpokenPart(part: JsonObject, place: string): AssistantPart {
  if (part['type'] !== 'refusal') return decodeTextPart(part, place)
  return { type: 'refusal', text: expectText(part['refusal'], `${place}.refusal`) }
}

function decodeImage(part: JsonObject, place: string): ImagePart {
  const image = expectObject(part['image_url'], `${place}.image_url`)
  const detail = optional(image['detail'], `${place}.image_url.detail`, expectText)
  return {
    type: 'image',
    source: decodeUrl(image['url'], `${place}.image_url.url`),
    ...(detail !== undefined && { detail }),
    ...markOf(part, place),
  }
}

function decodeFile(part: JsonObject, place: string): FilePart {
  const file = expectObject(part['file'], `${place}.file`)
  const name = optionalText(file['filename'], `${place}.file.filename`)
  return {
    type: 'file',
    source: decodeDataUrl(file['file_data'], `${place}.file.file_data`),
    ...(name !== undefined && { name }),
    ...markOf(part, place),
  }
}

function unknownPart(part: JsonObject, place: string, known: string): Error {
  const type = typeof part['type'] === 'string' ? `"${part['type']}"` : 'missing'
  return invalidRequest(place, `${place}.type is ${type}; here it must be ${known}`)
}
