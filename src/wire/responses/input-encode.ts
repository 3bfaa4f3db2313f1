// Canonical messages as input items. An assistant turn becomes one item for each thought, call and run of text, in
// their original order.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  AssistantPart,
  FilePart,
  Message,
  RefusalPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { belowTitle, fileName } from '../file-name.ts'
import { fitIdentifier } from '../identifiers.ts'
import { encodeUrl } from '../media.ts'

/** The longest call id that the format allows. */
const CALL_ID_CHARACTERS_MAX = 64

export function encodeInput(messages: readonly Message[]): JsonObject[] {
  const customCalls = new Set<string>()
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return [{ type: 'message', role: message.role, content: message.parts.flatMap(encodePart) }]
      case 'assistant':
        for (const part of message.parts) {
          if (part.type !== 'tool-call') continue
          // Some servers reuse the same ids in every answer: a result belongs to the last call with its id.
          if (part.custom) customCalls.add(part.id)
          else customCalls.delete(part.id)
        }
        return encodeTurn(message.parts)
      case 'tool':
        return [encodeResult(message, customCalls.has(message.callId))]
    }
  })
}

function encodePart(part: UserPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [encodeText(part.text)]
    case 'image': {
      const { source, detail = 'auto' } = part
      return [{ type: 'input_image', image_url: encodeUrl(source), detail }]
    }
    case 'file':
      return encodeFile(part)
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.encoding } }]
  }
}

function encodeText(text: string): JsonObject {
  return { type: 'input_text', text }
}

function encodeFile(file: FilePart): JsonObject[] {
  const { source, name } = file
  switch (source.type) {
    case 'text':
      return [encodeText(belowTitle(source.text, name))]
    case 'url': {
      // Only a file that is sent inline can have a filename.
      const title = name === undefined ? [] : [encodeText(name)]
      return [...title, { type: 'input_file', file_url: source.url }]
    }
    case 'base64':
      return [{ type: 'input_file', filename: fileName(file), file_data: encodeUrl(source) }]
  }
}

function encodeTurn(parts: readonly AssistantPart[]): JsonObject[] {
  const items: JsonObject[] = []
  let words: JsonObject[] | undefined
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (words === undefined) {
        words = []
        items.push({ type: 'message', role: 'assistant', content: words })
      }
      words.push(encodeWords(part))
      continue
    }
    const item = part.type === 'thinking' ? encodeThinking(part) : encodeCall(part)
    if (item === undefined) continue
    words = undefined
    items.push(item)
  }
  return items
}

function encodeWords(part: TextPart | RefusalPart): JsonObject {
  return part.type === 'text'
    ? { type: 'output_text', text: part.text, annotations: [] }
    : { type: 'refusal', refusal: part.text }
}

/** Only thoughts that a provider of this format produced: it cannot read any others. */
function encodeThinking({ text, seal }: ThinkingPart): JsonObject | undefined {
  if (seal?.format !== 'responses') return undefined
  return defined({
    type: 'reasoning',
    id: seal.id,
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    encrypted_content: seal.value,
  })
}

function encodeCall({ id, name, input, custom }: ToolCallPart): JsonObject {
  const call_id = fitIdentifier(id, CALL_ID_CHARACTERS_MAX)
  return custom
    ? { type: 'custom_tool_call', call_id, name, input }
    : { type: 'function_call', call_id, name, arguments: input === '' ? '{}' : input }
}

function encodeResult({ callId, parts, isError }: ToolMessage, custom: boolean): JsonObject {
  return {
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: fitIdentifier(callId, CALL_ID_CHARACTERS_MAX),
    output: encodeOutput(isError === true ? markError(parts) : parts),
  }
}

function encodeOutput(parts: readonly UserPart[]): string | readonly JsonObject[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts.flatMap(encodePart)
}

/** The format cannot mark a call as failed, so the text says it. */
function markError(parts: ToolMessage['parts']): readonly UserPart[] {
  const [first, ...rest] = parts
  return first?.type === 'text'
    ? [{ ...first, text: `Error: ${first.text}` }, ...rest]
    : [{ type: 'text', text: 'Error:' }, ...parts]
}
