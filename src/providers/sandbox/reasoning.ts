// What sandbox-reasoner writes before it answers, and the signature by which it recognizes its own reasoning. That
// carries all of the text, so that it can be checked even if it was not shown.
import { createHash } from 'node:crypto'
import type { Format } from '../../core/endpoints.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { Conversation, Effort, OpaqueReasoning, ReasoningPart } from '../../core/request.ts'
import { effortOf } from '../../wire/contract/models.ts'
import type { Prompt } from './prompt.ts'

const SENTENCES: Record<Effort, number> = {
  none: 0,
  minimal: 1,
  low: 1,
  medium: 2,
  high: 3,
  xhigh: 3,
  max: 3,
}

/** The reasoning about a prompt; '' when no reasoning is wanted. */
export function reasonAbout(request: Conversation, prompt: Prompt): string {
  const words = prompt.text.split(/\s+/).filter((word) => word !== '').length
  const sentences = [
    `The last message has ${words} words.`,
    prompt.isAnswered
      ? `There are ${prompt.results.length} tool results to report.`
      : `There are ${request.tools.length} tools and ${prompt.attachments.length} attachments to consider.`,
    'I know nothing beyond this conversation, so I will stay with what is in it.',
  ]
  return sentences.slice(0, SENTENCES[effortOf(request.reasoning) ?? 'medium']).join(' ')
}

const MARK = 'sandbox.1.'

export function opaqueOf(reasoned: string, format: Format): OpaqueReasoning {
  const packed = Buffer.from(reasoned).toString('base64url')
  const kind = format === 'responses' ? 'encrypted' : 'signature'
  return { format, kind, value: `${MARK}${packed}.${digest(packed)}` }
}

/** Refuses foreign and altered reasoning, as real providers do. */
export function checkReasoning(request: Conversation, format: Format): void {
  for (const [index, message] of request.messages.entries()) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type !== 'reasoning' || isGenuine(part, format)) continue
      throw invalidRequest(
        `messages[${index}]`,
        `message ${index} returns a thought with an invalid signature: send thoughts back exactly as they came, or not at all`,
      )
    }
  }
}

function isGenuine({ text, opaque }: ReasoningPart, format: Format): boolean {
  if (opaque === undefined || opaque.value === '' || opaque.format !== format) return true
  const [packed = '', signature] = opaque.value.slice(MARK.length).split('.')
  const reasoned = Buffer.from(packed, 'base64url').toString()
  return (
    opaque.value.startsWith(MARK) &&
    signature === digest(packed) &&
    (text === '' || text === reasoned)
  )
}

/** No protection against forgery, and none is needed: it only detects changes. */
function digest(text: string): string {
  return createHash('sha256').update(`tollgate sandbox\n${text}`).digest('base64url').slice(0, 22)
}
