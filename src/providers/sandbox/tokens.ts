// The sandbox's tokenizer: a token is four UTF-8 bytes of a text, the last one may be shorter. Each text
// of a request counts by itself, so whoever holds the request knows the count exactly before it is sent.
import { parseObject } from '../../core/json.ts'
import type {
  CanonicalRequest,
  Conversation,
  EmbeddingRequest,
  Message,
  Tool,
} from '../../core/request.ts'

const BYTES_PER_TOKEN = 4

/** What the sandbox charges for an image, an audio clip or a file it is only given the address of. */
export const MEDIA_TOKENS = 256

export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** The longest beginning of a text that has at most so many tokens. No character is torn. */
export function firstTokens(text: string, tokens: number): string {
  const bytesMax = tokens * BYTES_PER_TOKEN
  if (Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text)
  let end = bytesMax
  while (isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

/**
 * What the sandbox counts as input. Texts, tool definitions, tool calls, tool results and schemas by their length;
 * files by theirs once decoded; images and audio at a fixed price. Names of roles, schemas and participants, ids and
 * thoughts that are given back are free: translation may drop or rename them, and the count must not depend on it.
 */
export function countSandboxInput(request: CanonicalRequest): number {
  if (request.kind === 'embedding') return sum(request.inputs, tokensOfEmbedded)
  return (
    sum(request.messages, (message) => sum<Part>(message.parts, tokensOfPart)) +
    sum(request.tools, tokensOfTool) +
    tokensOfOutputFormat(request)
  )
}

/** One of the inputs that are to be embedded: a text, or tokens of whatever tokenizer. */
export function tokensOfEmbedded(input: EmbeddingRequest['inputs'][number]): number {
  return typeof input === 'string' ? tokensOf(input) : input.length
}

type Part = Message['parts'][number]

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return tokensOf(part.text)
    case 'thinking':
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

/** A tool call counts alike when the sandbox writes it and when it is given back. */
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

/** JSON without its spaces: a format that carries arguments as an object does not keep them. */
function compact(input: string): string {
  const value = parseObject(input)
  return value === undefined ? input : JSON.stringify(value)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}
