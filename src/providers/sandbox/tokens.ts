// The sandbox's tokenizer: a token is four UTF-8 bytes of a text; the last may be shorter. Each text of a request is
// counted by itself, so the exact count is known before the request is sent.
import { GatewayError } from '../../core/errors.ts'
import { parseObject } from '../../core/json.ts'
import type {
  CanonicalRequest,
  Conversation,
  EmbeddingRequest,
  Message,
  Tool,
} from '../../core/request.ts'

const BYTES_PER_TOKEN = 4

/** The count for an image, an audio clip, or a file given only by its URL. */
export const MEDIA_TOKENS = 256

export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** Refuses an input that is too long, as real providers do. */
export function assertRoom(tokens: number, tokensMax: number): void {
  if (tokens <= tokensMax) return
  const message = `prompt is too long: ${tokens} tokens, and at most ${tokensMax} can be read`
  const provider = { status: 400, code: 'context_length_exceeded' }
  throw new GatewayError('invalid_request', message, { provider })
}

/** The longest beginning of a text with at most so many tokens. No character is split. */
export function firstTokens(text: string, tokens: number): string {
  const bytesMax = tokens * BYTES_PER_TOKEN
  if (Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text)
  let end = bytesMax
  // Back to the first byte of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/**
 * The input tokens of a request. Texts, tool definitions, tool calls, tool results and schemas count by their length;
 * files by their decoded length; images and audio at a fixed number. Names of roles, schemas and participants, ids and
 * returned reasoning are free: translation may drop or rename them, and the count must not depend on it.
 */
export function countSandboxInput(request: CanonicalRequest): number {
  if (request.kind === 'embedding') return sum(request.inputs, tokensOfEmbedded)
  return (
    sum(request.messages, (message) => sum<Part>(message.parts, tokensOfPart)) +
    sum(request.tools, tokensOfTool) +
    tokensOfOutputFormat(request)
  )
}

/** The tokens of one input to embed: a text, or tokens of any tokenizer. */
export function tokensOfEmbedded(input: EmbeddingRequest['inputs'][number]): number {
  return typeof input === 'string' ? tokensOf(input) : input.length
}

type Part = Message['parts'][number]

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return tokensOf(part.text)
    case 'reasoning':
      return 0
    case 'tool-call':
      return tokensOfCall(part.name, part.input)
    case 'image':
    case 'audio':
      return MEDIA_TOKENS
    case 'file':
      switch (part.source.type) {
        case 'text':
          return tokensOf(part.source.text)
        case 'base64':
          return Math.ceil(Buffer.byteLength(part.source.data, 'base64') / BYTES_PER_TOKEN)
        case 'url':
          return MEDIA_TOKENS
      }
  }
}

/** A tool call counts the same when the sandbox writes it and when the client returns it. */
export function tokensOfCall(name: string, input: string): number {
  return tokensOf(name) + tokensOf(compact(input))
}

function tokensOfTool(tool: Tool): number {
  const schema = tool.type === 'function' ? JSON.stringify(tool.schema) : ''
  return tokensOf(tool.name) + tokensOf(tool.description ?? '') + tokensOf(schema)
}

function tokensOfOutputFormat({ outputFormat }: Conversation): number {
  return outputFormat?.type === 'json-schema' ? tokensOf(JSON.stringify(outputFormat.schema)) : 0
}

/** JSON without its spaces, which are lost in formats that carry arguments as an object. */
function compact(input: string): string {
  const value = parseObject(input)
  return value === undefined ? input : JSON.stringify(value)
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}
