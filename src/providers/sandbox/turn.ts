// What the sandbox's answer is about: the last user message, and what tools have said since the last answer.
import type { Conversation, FilePart, ImagePart, Message, UserPart } from '../../core/request.ts'
import { lastUserText, withoutScript } from './script.ts'

export type Turn = {
  /** What the user wrote last, without the steering line. */
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly results: readonly ToolResult[]
  /** The tools have answered what the user asked for: it is time to speak. */
  readonly isAnswered: boolean
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
  const afterAnswer = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  return {
    text: withoutScript(lastUserText(request)),
    attachments: (lastUser?.parts ?? []).filter((part) => part.type !== 'text'),
    results: afterAnswer.flatMap((message) =>
      message.role === 'tool' ? [resultOf(message, messages)] : [],
    ),
    isAnswered:
      messages.findLast(({ role }) => role === 'user' || role === 'tool')?.role === 'tool',
  }
}

type ToolMessage = Extract<Message, { role: 'tool' }>

function resultOf(message: ToolMessage, messages: readonly Message[]): ToolResult {
  const call = messages
    .flatMap((earlier) => (earlier.role === 'assistant' ? earlier.parts : []))
    .find((part) => part.type === 'tool-call' && part.id === message.callId)
  return {
    name: call?.type === 'tool-call' ? call.name : message.callId,
    text: message.parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n'),
    attachments: message.parts.filter((part) => part.type !== 'text'),
    isError: message.isError === true,
  }
}
