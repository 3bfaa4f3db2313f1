// What the sandbox says, and what it writes as its reasoning before that: a small, honest model that can repeat and
// describe its input, and knows nothing else.
import { createHash } from 'node:crypto'
import type { Format } from '../../core/endpoints.ts'
import { invalidRequest } from '../../core/errors.ts'
import type {
  Base64Source,
  Conversation,
  Effort,
  OpaqueReasoning,
  ReasoningPart,
} from '../../core/request.ts'
import { effortOf } from '../../wire/contract/models.ts'
import { dictatedIn, unquoted } from './prompt.ts'
import type { Attachment, Prompt, ToolResult } from './prompt.ts'
import { firstTokens, tokensOf } from './tokens.ts'

/** Longer quotations are cut. */
const QUOTE_CHARACTERS_MAX = 300

/** Of results and attachments: no answer has room for more. */
const DESCRIBED_MAX = 500

export function textOf(prompt: Prompt): string {
  if (prompt.fixed !== undefined) return prompt.fixed
  const results = prompt.results.slice(0, DESCRIBED_MAX)
  const spoken = [...results.map(tell), ...describe(prompt.attachments)]
  if (prompt.isAnswered) return spoken.join(' ')
  const dictated = DICTATION.exec(prompt.text)?.[1] ?? dictatedIn(prompt.text)
  if (dictated !== undefined) return [...spoken, unquoted(dictated)].join(' ')
  if (prompt.text !== '') {
    const verb = prompt.text.includes('?') ? 'asked' : 'wrote'
    spoken.push(`You ${verb}: ${quote(prompt.text)}`)
  }
  return [...spoken, INTRODUCTION].join(' ')
}

const INTRODUCTION =
  'I am the sandbox model that ships with Tollgate: I know nothing of the world, but I stream, call tools, ' +
  'count tokens and cost money like a real model.'

/** "Say hello." is answered with "hello". */
const DICTATION =
  /^(?:please,? )?(?:say|repeat|(?:reply|respond|answer) with)(?: only| just| exactly| the words?)*:? ([^\n]+?)[.!]?$/i

function tell({ name, text, attachments, isError }: ToolResult): string {
  const said = `The tool ${name} ${isError ? 'failed' : 'answered'}: ${quote(text)}`
  return [said, ...describe(attachments)].join(' ')
}

function describe(attachments: readonly Attachment[]): string[] {
  const names = attachments.slice(0, DESCRIBED_MAX).map(nameOf)
  return names.length === 0 ? [] : [`I was given ${names.join(' and ')}.`]
}

function nameOf(attachment: Attachment): string {
  switch (attachment.type) {
    case 'image':
      return attachment.source.type === 'url'
        ? `the image at ${attachment.source.url}`
        : `an image (${sizeOf(attachment.source)})`
    case 'audio':
      return `a sound (${attachment.encoding}, ${bytesOf(attachment.data)} bytes)`
    case 'file': {
      const { source, name = 'without a name' } = attachment
      if (source.type === 'url') return `the file at ${source.url}`
      if (source.type === 'base64') return `the file ${name} (${sizeOf(source)})`
      const size = `text/plain, ${Buffer.byteLength(source.text)} bytes`
      return `the file ${name} (${size}) which says ${quote(source.text)}`
    }
  }
}

function sizeOf({ mediaType, data }: Base64Source): string {
  return `${mediaType}, ${bytesOf(data)} bytes`
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function quote(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length <= QUOTE_CHARACTERS_MAX) return `“${trimmed}”`
  return `“${trimmed.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}…”`
}

const FILLER = 'and so on, word after word, as long as the steering line asks for, '

/** The text lengthened or shortened to exactly so many tokens. */
export function stretched(text: string, tokens: number): string {
  const missing = Math.max(0, tokens - tokensOf(text) + 1)
  const padding = FILLER.repeat(Math.ceil((missing * 4) / FILLER.length))
  return firstTokens(`${text} ${padding}`, tokens)
}

// The reasoning of sandbox-reasoner, and the signature by which it recognizes its own. That carries all of
// the text, so that it can be checked even if it was not shown.

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
