// The messages of a conversation as Converse takes them: user and assistant by turns, the system prompt apart, results
// of tools at the beginning of the turn that follows the calls.
import type { JsonObject } from '../../core/json.ts'
import { defined } from '../../core/json.ts'
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  ThinkingPart,
} from '../../core/request.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { fitIdentifier } from '../identifiers.ts'
import { lateInstruction } from '../late-instruction.ts'
import { toolInputObject } from '../tool-input.ts'
import { documentFormat } from './documents.ts'

type Part = Message['parts'][number]
type Turn = {
  readonly role: 'user' | 'assistant'
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

const JSON_ONLY: JsonObject = {
  text: 'Answer with one valid JSON object and nothing else: no explanation, no code fence.',
}

export function encodeTurns({ messages, outputFormat }: Conversation) {
  const firstTurn = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn)
  const turns: Turn[] = []
  // The first turn is always the user's.
  if (messages[leading.length]?.role === 'assistant' || firstTurn < 0) turnOf(turns, 'user')
  for (const message of messages.slice(leading.length)) addMessage(turns, message)
  const system = leading.flatMap(({ parts }) => encodeParts(parts))
  return {
    system: outputFormat?.type === 'json' ? [...system, JSON_ONLY] : system,
    messages: turns.map(encodeTurn),
  }
}

function addMessage(turns: Turn[], message: Message): void {
  switch (message.role) {
    case 'system':
    case 'developer':
      for (const { text } of message.parts) {
        turnOf(turns, 'user').blocks.push({ text: lateInstruction(text) })
      }
      return
    case 'user':
    case 'assistant':
      turnOf(turns, message.role).blocks.push(...encodeParts(message.parts))
      return
    case 'tool':
      turnOf(turns, 'user').results.push({
        toolResult: defined({
          toolUseId: callId(message.callId),
          content: encodeParts(message.parts),
          status: message.isError === true ? 'error' : undefined,
        }),
      })
  }
}

/** The turn of this role at the end: consecutive messages of one role are one turn. */
function turnOf(turns: Turn[], role: Turn['role']): Turn {
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, results: [], blocks: [] }
  turns.push(turn)
  return turn
}

/** A turn may not be empty. */
const NOTHING: JsonObject = { text: '(no content)' }

function encodeTurn({ role, results, blocks }: Turn): JsonObject {
  const content = [...results, ...blocks]
  return { role, content: content.length === 0 ? [NOTHING] : content }
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
      return encodeThinking(part)
    case 'tool-call':
      return [
        {
          toolUse: {
            toolUseId: callId(part.id),
            name: part.name,
            input: part.custom ? wrapCustomInput(part.input) : toolInputObject(part.input),
          },
        },
      ]
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
  // A name may hold letters, digits, single spaces, hyphens and brackets, and must be there.
  const title = (name ?? '').replace(/[^A-Za-z0-9 ()[\]-]+/g, '-').replace(/ {2,}/g, ' ')
  return [{ document: { format, name: title || `document-${index}`, source: { bytes } } }]
}

/** A provider takes back only the thoughts that it has sealed itself. */
function encodeThinking({ text, seal }: ThinkingPart): JsonObject[] {
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
