// The content parts of input items, by the role that may use them. Any other part is a 400 with its place.
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheMark,
  FilePart,
  ImagePart,
  TextPart,
  UserPart,
} from '../../core/request.ts'
import { expectCacheMark } from '../cache-lifetime.ts'
import { expectName, expectObject, expectText, optional, optionalText } from '../expect.ts'
import { decodeDataUrl, decodeUrl, expectBase64 } from '../media.ts'

export type PlacedPart = { readonly part: JsonObject; readonly place: string }

export function decodeUserPart(placed: PlacedPart): UserPart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'input_image':
      return decodeImage(placed)
    case 'input_file':
      return decodeFile(placed)
    case 'input_audio':
      return decodeAudio(placed)
    default:
      throw unknownPart(placed, 'input_text, input_image, input_file or input_audio')
  }
}

export function decodeTextPart(placed: PlacedPart): TextPart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    default:
      throw unknownPart(placed, 'input_text')
  }
}

export function decodeAssistantPart(placed: PlacedPart): AssistantPart {
  const { part, place } = placed
  switch (typeOf(part)) {
    // Many clients send the assistant's words back as if they were input.
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'refusal':
      return { type: 'refusal', text: expectText(part['refusal'], `${place}.refusal`) }
    default:
      throw unknownPart(placed, 'output_text or refusal')
  }
}

export function decodeOutputPart(placed: PlacedPart): TextPart | ImagePart | FilePart {
  switch (typeOf(placed.part)) {
    case 'input_text':
    case 'output_text':
      return decodeText(placed)
    case 'input_image':
      return decodeImage(placed)
    case 'input_file':
      return decodeFile(placed)
    default:
      throw unknownPart(placed, 'input_text, input_image or input_file')
  }
}

function decodeText({ part, place }: PlacedPart): TextPart {
  const text = expectText(part['text'], `${place}.text`)
  return defined({ type: 'text' as const, text, cache: cacheMark({ part, place }) })
}

function decodeImage({ part, place }: PlacedPart): ImagePart {
  return defined({
    type: 'image' as const,
    source: decodeUrl(part['image_url'], `${place}.image_url`),
    detail: optional(part['detail'], `${place}.detail`, expectText),
    cache: cacheMark({ part, place }),
  })
}

function decodeFile({ part, place }: PlacedPart): FilePart {
  const url = optional(part['file_url'], `${place}.file_url`, expectText)
  return defined({
    type: 'file' as const,
    source:
      url === undefined
        ? decodeDataUrl(part['file_data'], `${place}.file_data`)
        : decodeUrl(url, `${place}.file_url`),
    name: optionalText(part['filename'], `${place}.filename`),
    cache: cacheMark({ part, place }),
  })
}

function decodeAudio({ part, place }: PlacedPart): AudioPart {
  const audio = expectObject(part['input_audio'], `${place}.input_audio`)
  return {
    type: 'audio',
    data: expectBase64(audio['data'], `${place}.input_audio.data`),
    encoding: expectName(audio['format'], `${place}.input_audio.format`),
  }
}

function cacheMark({ part, place }: PlacedPart): CacheMark | undefined {
  const name = 'prompt_cache_breakpoint'
  return optional(part[name], `${place}.${name}`, expectCacheMark)
}

function unknownPart({ part, place }: PlacedPart, known: string): GatewayError {
  const type = JSON.stringify(part['type'] ?? null)
  return invalidRequest(place, `${place} has the type ${type}; here it must be ${known}`)
}
