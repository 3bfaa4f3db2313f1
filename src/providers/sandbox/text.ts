// What the sandbox says: a small, honest model that can repeat and describe its input, and knows nothing else.
import type { Base64Source } from '../../core/request.ts'
import { dictatedIn, unquoted } from './prompt.ts'
import type { Attachment, ToolResult, Prompt } from './prompt.ts'
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
