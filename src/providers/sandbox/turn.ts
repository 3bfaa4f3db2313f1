// What the sandbox's answer is about: the last user message, and what tools have said since the last answer.
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { lastUserText, withoutScript } from './script.ts'

export type Turn = {
  /** What the user wrote last, without the steering line, and not much of it. */
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly results: readonly ToolResult[]
  /** Tools have answered: it is time to speak, or an agent would never come to an end. */
  readonly isAnswered: boolean
  /** The tools that were called since the user last wrote. */
  readonly called: ReadonlySet<string>
}

export type Attachment = Exclude<UserPart, { type: 'text' }>
export type ToolResult = {
  readonly name: string
  readonly text: string
  readonly attachments: readonly (ImagePart | FilePart)[]
  readonly isError: boolean
}

export function turnOf(request: Conversation): Turn {
  const { messages } = request
  const lastUser = messages.findLast((message) => message.role === 'user')
  const afterUser = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const afterAnswer = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  const names = callNames(messages)
  const results = afterAnswer.flatMap((message) =>
    message.role === 'tool' ? [resultOf(message, names)] : [],
  )
  return {
    text: spokenPart(withoutScript(lastUserText(request))),
    attachments: (lastUser?.parts ?? []).filter((part) => part.type !== 'text'),
    results,
    isAnswered: results.length > 0,
    called: new Set(callNames(afterUser).values()),
  }
}

/** What is read of a text: enough of both ends. */
const TEXT_CHARACTERS_MAX = 10_000

/** What the user said, without the context that agents wrap in tags; all of it when there is nothing else. */
function spokenPart(text: string): string {
  const ends =
    text.length <= 2 * TEXT_CHARACTERS_MAX
      ? text
      : `${text.slice(0, TEXT_CHARACTERS_MAX)}\n${text.slice(-TEXT_CHARACTERS_MAX)}`.toWellFormed()
  return withoutContext(ends).trim() || ends.trim()
}

function withoutContext(text: string): string {
  let kept = ''
  let position = 0
  for (const { index, 1: name } of text.matchAll(/<([a-z][\w-]*)>/g)) {
    const closing = `</${name}>`
    const end = index < position ? -1 : text.indexOf(closing, index)
    if (end < 0) continue
    kept += text.slice(position, index)
    position = end + closing.length
  }
  return kept + text.slice(position)
}

function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(
    messages
      .flatMap((message) => (message.role === 'assistant' ? message.parts : []))
      .flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name] as const] : [])),
  )
}

function resultOf(message: ToolMessage, names: ReadonlyMap<string, string>): ToolResult {
  return {
    name: names.get(message.callId) ?? message.callId,
    text: message.parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n'),
    attachments: message.parts.filter((part) => part.type !== 'text'),
    isError: message.isError === true,
  }
}
