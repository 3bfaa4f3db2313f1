// The parts of a message as content blocks of the messages format.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  FilePart,
  ImagePart,
  Message,
  ThinkingPart,
  ToolCallPart,
} from '../../core/request.ts'
import { isTextType } from '../media.ts'
import { callInput } from '../tool-input.ts'
import { encodeCacheMark } from './cache-marks.ts'
import { plainCallId } from './tool-names.ts'

type Part = Message['parts'][number]

/** Blank texts are left out: providers refuse them. */
export function encodeParts(parts: readonly Part[]): JsonObject[] {
  return parts.map(encodePart).filter((block) => block !== undefined)
}

function encodePart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part.text, encodeCacheMark(part.cache))
    case 'refusal':
      return encodeText(part.text, undefined)
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
    case 'thinking':
      return encodeThought(part)
    case 'tool-call':
      return encodeToolCall(part)
    case 'audio':
      return undefined
  }
}

function encodeText(text: string, cache_control: JsonObject | undefined): JsonObject | undefined {
  return text.trim() === '' ? undefined : defined({ type: 'text', text, cache_control })
}

function encodeImage({ source, cache }: ImagePart): JsonObject {
  return defined({
    type: 'image',
    source: encodeSource(source),
    cache_control: encodeCacheMark(cache),
  })
}

function encodeFile({ source, name, cache }: FilePart): JsonObject {
  return defined({
    type: 'document',
    source: encodeFileSource(source),
    title: name,
    cache_control: encodeCacheMark(cache),
  })
}

function encodeFileSource(source: FilePart['source']): JsonObject {
  if (source.type === 'text') return plainText(source.text)
  const isText = source.type === 'base64' && isTextType(source.mediaType)
  return isText ? plainText(Buffer.from(source.data, 'base64').toString()) : encodeSource(source)
}

function plainText(data: string): JsonObject {
  return { type: 'text', media_type: 'text/plain', data }
}

function encodeSource(source: ImagePart['source']): JsonObject {
  if (source.type === 'url') return { type: 'url', url: source.url }
  return { type: 'base64', media_type: source.mediaType, data: source.data }
}

/** A provider takes back only the thoughts that it sealed itself. */
function encodeThought({ text, seal }: ThinkingPart): JsonObject | undefined {
  if (seal?.format !== 'messages') return undefined
  return seal.kind === 'redacted'
    ? { type: 'redacted_thinking', data: seal.value }
    : { type: 'thinking', thinking: text, signature: seal.value }
}

function encodeToolCall(call: ToolCallPart): JsonObject {
  return defined({
    type: 'tool_use',
    id: plainCallId(call.id),
    name: call.name,
    input: callInput(call),
    cache_control: encodeCacheMark(call.cache),
  })
}
