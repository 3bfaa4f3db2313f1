// Canonical messages as a chat completions provider reads them. What this format cannot express is written another way
// where one exists (`docs/translation.md`), and left out where `features.ts` lists the loss.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  Message,
  ThinkingPart,
  ToolCallPart,
  UserPart,
} from '../../core/request.ts'
import { belowTitle, fileName } from '../file-name.ts'
import { fitIdentifier } from '../identifiers.ts'
import { encodeUrl } from '../media.ts'

// The longest tool call id that OpenAI accepts.
const CALL_ID_CHARACTERS_MAX = 40

type Manner = {
  /** Whether every answer needs thoughts, even where there are none. */
  readonly wantsThoughts: boolean
}

export function encodeMessages(
  messages: readonly Message[],
  manner: Manner,
): readonly JsonObject[] {
  const encoded: JsonObject[] = []
  // A tool's result can only be text here. Its images and files follow in a user message, after all results.
  let media: (ImagePart | FilePart)[] = []
  for (const message of messages) {
    if (message.role !== 'tool' && media.length > 0) {
      encoded.push({ role: 'user', content: encodeParts(media) })
      media = []
    }
    encoded.push(encodeMessage(message, manner))
    if (message.role === 'tool') media.push(...message.parts.filter((part) => part.type !== 'text'))
  }
  if (media.length > 0) encoded.push({ role: 'user', content: encodeParts(media) })
  return encoded
}

function encodeMessage(message: Message, manner: Manner): JsonObject {
  const name = 'name' in message && message.name !== undefined ? { name: message.name } : {}
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role: message.role, content: encodeContent(message.parts), ...name }
    case 'assistant':
      return { role: 'assistant', ...encodeAssistant(message.parts, manner), ...name }
    case 'tool': {
      const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const content = message.isError === true ? `Error: ${text}` : text
      return { role: 'tool', tool_call_id: encodeCallId(message.callId), content }
    }
  }
}

/** A single text is written as a string: every compatible provider reads strings, but not every one reads parts. */
function encodeContent(parts: readonly UserPart[]): string | readonly JsonObject[] {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : encodeParts(parts)
}

function encodeParts(parts: readonly UserPart[]): readonly JsonObject[] {
  return parts.map(encodePart)
}

function encodePart(part: UserPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image': {
      const detail = part.detail === undefined ? {} : { detail: part.detail }
      return { type: 'image_url', image_url: { url: encodeUrl(part.source), ...detail } }
    }
    case 'file':
      return encodeFile(part)
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.encoding } }
  }
}

function encodeFile(file: FilePart): JsonObject {
  const { source, name } = file
  if (source.type === 'text') {
    return { type: 'text', text: belowTitle(source.text, name) }
  }
  return { type: 'file', file: { filename: fileName(file), file_data: encodeUrl(source) } }
}

/** What stands in for thoughts: providers that want some take an empty text for none. */
const NO_THOUGHTS = ' '

function encodeAssistant(parts: readonly AssistantPart[], { wantsThoughts }: Manner): JsonObject {
  const texts = parts.filter((part) => part.type === 'text')
  const refusals = parts.filter((part) => part.type === 'refusal')
  const calls = parts.filter((part) => part.type === 'tool-call')
  const text = texts.map((part) => part.text).join('')
  return {
    content: text === '' && (calls.length > 0 || refusals.length > 0) ? null : text,
    ...(refusals.length > 0 && { refusal: refusals.map((part) => part.text).join('') }),
    ...(wantsThoughts && { reasoning_content: NO_THOUGHTS }),
    ...encodeThinking(parts.filter((part) => part.type === 'thinking')),
    ...(calls.length > 0 && { tool_calls: calls.map(encodeCall) }),
  }
}

/** Only thoughts that a provider of this format produced: it cannot read any others. */
function encodeThinking(parts: readonly ThinkingPart[]): JsonObject {
  const own = parts.flatMap(({ text, seal }) => (seal?.format === 'chat' ? [{ text, seal }] : []))
  const text = own.map((part) => part.text).join('')
  const details = own
    .filter((part) => part.seal.value !== '')
    .map(({ text: thought, seal: { kind, value, id, dialect: format } }) =>
      kind === 'signature'
        ? defined({ type: 'reasoning.text', text: thought, signature: value, id, format })
        : defined({ type: 'reasoning.encrypted', data: value, id, format }),
    )
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

function encodeCall({ id, name, input, custom }: ToolCallPart): JsonObject {
  const called = custom
    ? { type: 'custom', custom: { name, input } }
    : // Arguments are JSON: a call without input has an empty object, not an empty text.
      { type: 'function', function: { name, arguments: input === '' ? '{}' : input } }
  return { id: encodeCallId(id), ...called }
}

function encodeCallId(id: string): string {
  return fitIdentifier(id, CALL_ID_CHARACTERS_MAX)
}
