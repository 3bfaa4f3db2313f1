// What the sandbox's answer is about: the last user message, the tool results since the last answer, and what the
// instructions demand of every answer.
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { callsIn } from '../../wire/call-ids.ts'
import { JSON_ONLY } from '../../wire/instructions.ts'
import { dictatedIn } from './dictation.ts'
import { lastUserText, withoutScript } from './script.ts'

export type Turn = {
  /** The last user text without the steering line, shortened. */
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly results: readonly ToolResult[]
  /** Tools have answered: the model must speak now, or an agent would never come to an end. */
  readonly isAnswered: boolean
  /** The tools called since the last user message. */
  readonly called: ReadonlySet<string>
  /** The answer that the instructions ask for, whatever the user says. */
  readonly fixed: string | undefined
  /** The instructions ask for a JSON object, as translation words it for formats without a JSON mode. */
  readonly wantsJson: boolean
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
  const instructions = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer'
      ? message.parts.map((part) => part.text)
      : [],
  )
  return {
    text: spokenPart(withoutScript(lastUserText(request))),
    attachments: (lastUser?.parts ?? []).filter((part) => part.type !== 'text'),
    results,
    isAnswered: results.length > 0,
    called: new Set(callNames(afterUser).values()),
    fixed: dictatedIn(instructions.join('\n')),
    wantsJson: instructions.includes(JSON_ONLY),
  }
}

/** How much of each end of a long text is read. */
const TEXT_CHARACTERS_MAX = 10_000

/** The user's own words, without the context that agents wrap in tags; all of it if there is nothing else. */
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
  const unclosed = new Set<string>()
  for (const { index, 1: name = '' } of text.matchAll(/<([a-z][\w-]*)>/g)) {
    if (index < position || unclosed.has(name)) continue
    const closing = `</${name}>`
    const end = text.indexOf(closing, index)
    if (end < 0) unclosed.add(name)
    if (end < 0) continue
    kept += text.slice(position, index)
    position = end + closing.length
  }
  return kept + text.slice(position)
}

function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(callsIn(messages).map(({ id, name }) => [id, name]))
}

function resultOf(message: ToolMessage, names: ReadonlyMap<string, string>): ToolResult {
  return {
    name: names.get(message.callId) ?? message.callId,
    text: message.parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n'),
    attachments: message.parts.filter((part) => part.type !== 'text'),
    isError: message.isError === true,
  }
}
