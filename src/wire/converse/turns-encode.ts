// The messages of a conversation as Converse expects them: alternating user and assistant turns, a separate system
// prompt, and tool results at the beginning of the turn that follows the calls.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  ThinkingPart,
} from '../../core/request.ts'
import { withUniqueCallIds } from '../call-ids.ts'
import { fitIdentifier } from '../identifiers.ts'
import { JSON_ONLY, lateInstruction } from '../instructions.ts'
import { callInput } from '../tool-input.ts'
import { NO_CONTENT, takeTurns } from '../turns.ts'
import type { Turn } from '../turns.ts'
import { documentFormat } from './documents.ts'

type Part = Message['parts'][number]

export function encodeTurns({ messages, outputFormat }: Conversation) {
  const { leading, turns } = takeTurns(withUniqueCallIds(messages), addMessage)
  const system = leading.flatMap(({ parts }) => encodeParts(parts))
  return {
    system: outputFormat?.type === 'json' ? [...system, { text: JSON_ONLY }] : system,
    messages: turns.map(encodeTurn),
  }
}

function addMessage({ results, blocks }: Turn, message: Message): void {
  switch (message.role) {
    case 'system':
    case 'developer':
      for (const { text } of message.parts) blocks.push({ text: lateInstruction(text) })
      return
    case 'user':
    case 'assistant':
      blocks.push(...encodeParts(message.parts))
      return
    case 'tool': {
      const content = encodeParts(message.parts)
      results.push({
        toolResult: defined({
          toolUseId: callId(message.callId),
          // An error result must have content, and some models refuse any empty result.
          content: content.length === 0 ? [{ text: NO_CONTENT }] : content,
          status: message.isError === true ? 'error' : undefined,
        }),
      })
    }
  }
}

function encodeTurn({ role, results, blocks }: Turn): JsonObject {
  const content = [...results, ...blocks]
  return { role, content: content.length === 0 ? [{ text: NO_CONTENT }] : content }
}

/** Blank texts are left out: the provider refuses them. */
function encodeParts(parts: readonly Part[]): JsonObject[] {
  return parts.flatMap((part, index) => encodePart(part, index))
}

function encodePart(part: Part, index: number): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part, index)
    case 'thinking':
      return encodeThought(part)
    case 'tool-call':
      return [{ toolUse: { toolUseId: callId(part.id), name: part.name, input: callInput(part) } }]
    case 'audio':
      return []
  }
}

function encodeImage({ source }: ImagePart): JsonObject[] {
  if (source.type !== 'base64') return []
  const format = source.mediaType.replace('image/', '')
  return [{ image: { format, source: { bytes: source.data } } }]
}

function encodeFile({ source, name }: FilePart, index: number): JsonObject[] {
  if (source.type === 'url') return []
  const bytes = source.type === 'text' ? Buffer.from(source.text).toString('base64') : source.data
  const format = documentFormat(source) ?? 'txt'
  // A name is required, and may contain only letters, digits, single spaces, hyphens and brackets.
  const title = (name ?? '').replace(/[^A-Za-z0-9 ()[\]-]+/g, '-').replace(/ {2,}/g, ' ')
  return [{ document: { format, name: title || `document-${index}`, source: { bytes } } }]
}

/** A provider takes back only the thoughts that it sealed itself. */
function encodeThought({ text, seal }: ThinkingPart): JsonObject[] {
  if (seal?.format !== 'converse') return []
  const reasoningContent =
    seal.kind === 'redacted'
      ? { redactedContent: seal.value }
      : { reasoningText: { text, signature: seal.value } }
  return [{ reasoningContent }]
}

const CALL_ID_CHARACTERS_MAX = 64

function callId(id: string): string {
  return fitIdentifier(id.replace(/[^a-zA-Z0-9_-]/g, '_'), CALL_ID_CHARACTERS_MAX)
}
