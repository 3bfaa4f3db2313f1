// The content blocks of a messages request as canonical parts. A block that only this format has becomes text if a
// model can read it that way, and is otherwise dropped and named.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  Base64Source,
  CacheMark,
  FilePart,
  ImagePart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UrlSource,
  UserPart,
} from '../../core/request.ts'
import {
  expectList,
  expectName,
  expectObject,
  expectText,
  optional,
  optionalText,
} from '../expect.ts'
import { decodeUrl, expectBase64, usualType } from '../media.ts'
import { SEAL_MARK, unpackSeal } from '../seal.ts'
import { decodeCacheMark } from './cache-marks.ts'
import { shortToolName } from './tool-names.ts'

/** A block and where it stands in the request. */
export type Block = { readonly value: JsonObject; readonly place: string }
type MediaPart = TextPart | ImagePart | FilePart

export function decodeUserBlock(block: Block, dropped: Set<string>): UserPart[] {
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a user message')
}

export function decodeToolResultBlock(block: Block, dropped: Set<string>): MediaPart[] {
  const { value, place } = block
  if (typeOf(value) === 'tool_reference') {
    const name = expectName(value['tool_name'], `${place}.tool_name`)
    const text = `The tool ${shortToolName(name)} can be used now.`
    return [defined({ type: 'text' as const, text, cache: decodeCacheMark(value, place) })]
  }
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a tool result')
}

export function decodeAssistantBlock(block: Block, dropped: Set<string>): AssistantPart[] {
  const type = typeOf(block.value)
  switch (type) {
    case 'text':
      return [decodeText(block, dropped)]
    case 'tool_use':
      return [decodeToolUse(block)]
    case 'thinking':
      return [decodeThinking(block)]
    case 'redacted_thinking':
      return [decodeRedacted(block)]
    default:
      // What a hosted tool did at one provider cannot be expressed to another.
      if (type === 'server_tool_use' || type === 'mcp_tool_use' || type.endsWith('_tool_result')) {
        dropped.add(`messages.content.${type}`)
        return []
      }
      return refuseBlock(block, 'an assistant message')
  }
}

export function decodeText(block: Block, dropped: Set<string>): TextPart {
  const { value, place } = block
  if (typeOf(value) !== 'text') return refuseBlock(block, 'a place for text')
  noteCitations(value, dropped)
  return defined({
    type: 'text' as const,
    text: expectText(value['text'], `${place}.text`),
    cache: decodeCacheMark(value, place),
  })
}

function refuseBlock({ value, place }: Block, where: string): never {
  const type = typeOf(value)
  const what = type === '' ? 'a block without a type' : `a block of type ${type}`
  throw invalidRequest(place, `${place} is ${what}, which cannot be translated in ${where}`)
}

/** Decodes what both users and tools may send; undefined for any other block. */
function decodeMedia(block: Block, dropped: Set<string>): MediaPart[] | undefined {
  const { value, place } = block
  switch (typeOf(value)) {
    case 'text':
      return [decodeText(block, dropped)]
    case 'image': {
      const cache = decodeCacheMark(value, place)
      return [defined({ type: 'image' as const, source: decodeSource(block), cache })]
    }
    case 'document':
      return decodeDocument(block, dropped)
    case 'search_result':
      return [decodeSearchResult(block, dropped)]
    default:
      return undefined
  }
}

function decodeDocument(block: Block, dropped: Set<string>): MediaPart[] {
  const { value, place } = block
  noteCitations(value, dropped)
  const source = expectObject(value['source'], `${place}.source`)
  const name = optionalText(value['title'], `${place}.title`)
  const context = optionalText(value['context'], `${place}.context`)
  const cache = decodeCacheMark(value, place)
  const lead: TextPart[] = context === undefined ? [] : [{ type: 'text', text: context }]
  switch (typeOf(source)) {
    case 'text': {
      const text = expectText(source['data'], `${place}.source.data`)
      const plain = { type: 'text' as const, text }
      return [...lead, defined({ type: 'file' as const, source: plain, name, cache })]
    }
    case 'content':
      // Its blocks become parts of their own, after the document's title.
      if (name !== undefined) lead.unshift({ type: 'text', text: name })
      return markLast(
        [...lead, ...decodeInnerContent(source, `${place}.source.content`, dropped)],
        cache,
      )
    default:
      return [...lead, defined({ type: 'file' as const, source: decodeSource(block), name, cache })]
  }
}

/** A cache mark covers everything before it, so it goes on the last of several parts. */
function markLast(parts: MediaPart[], cache: CacheMark | undefined): MediaPart[] {
  const last = parts.at(-1)
  if (last === undefined || cache === undefined) return parts
  return [...parts.slice(0, -1), { ...last, cache }]
}

function decodeInnerContent(
  { content }: JsonObject,
  place: string,
  dropped: Set<string>,
): MediaPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return expectList(content, place).flatMap((value, index) => {
    const at = `${place}[${index}]`
    const block = { value: expectObject(value, at), place: at }
    return decodeMedia(block, dropped) ?? refuseBlock(block, 'a document')
  })
}

function decodeSearchResult({ value, place }: Block, dropped: Set<string>): TextPart {
  noteCitations(value, dropped)
  const title = expectText(value['title'], `${place}.title`)
  const source = expectText(value['source'], `${place}.source`)
  const parts = expectList(value['content'], `${place}.content`).map((part, index) => {
    const at = `${place}.content[${index}]`
    return decodeText({ value: expectObject(part, at), place: at }, dropped)
  })
  const text = [`${title}\n${source}`, ...parts.map((part) => part.text)].join('\n\n')
  const inner = parts.findLast((part) => part.cache !== undefined)
  const cache = decodeCacheMark(value, place) ?? inner?.cache
  return defined({ type: 'text' as const, text, cache })
}

/** Reports citations as dropped, both requested ones and those in earlier answers. */
function noteCitations({ citations }: JsonObject, dropped: Set<string>): void {
  const isWanted = isObject(citations) && citations['enabled'] === true
  const isThere = isArray(citations) && citations.length > 0
  if (isWanted || isThere) dropped.add('messages.content.citations')
}

function decodeSource({ value, place }: Block): Base64Source | UrlSource {
  const at = `${place}.source`
  const source = expectObject(value['source'], at)
  switch (typeOf(source)) {
    case 'url':
      return decodeUrl(source['url'], `${at}.url`)
    case 'base64': {
      const mediaType = usualType(expectName(source['media_type'], `${at}.media_type`))
      return { type: 'base64', mediaType, data: expectBase64(source['data'], `${at}.data`) }
    }
    default:
      throw invalidRequest(`${at}.type`, `${at}.type must be base64 or url`)
  }
}

function decodeToolUse({ value, place }: Block): ToolCallPart {
  return defined({
    type: 'tool-call' as const,
    id: expectName(value['id'], `${place}.id`),
    name: shortToolName(expectName(value['name'], `${place}.name`)),
    input: JSON.stringify(expectObject(value['input'] ?? {}, `${place}.input`)),
    custom: false,
    cache: decodeCacheMark(value, place),
  })
}

/** Unpacks the seal of another format. An empty pack, like an empty string, is no signature. */
function decodeThinking({ value, place }: Block): ThinkingPart {
  const text = expectText(value['thinking'], `${place}.thinking`)
  const signature = optional(value['signature'], `${place}.signature`, expectText) ?? ''
  if (signature === '' || signature === SEAL_MARK) return { type: 'thinking', text }
  const seal = unpackSeal(signature, { format: 'messages', kind: 'signature' })
  return { type: 'thinking', text, seal }
}

function decodeRedacted({ value, place }: Block): ThinkingPart {
  const data = expectText(value['data'], `${place}.data`)
  return {
    type: 'thinking',
    text: '',
    seal: unpackSeal(data, { format: 'messages', kind: 'redacted' }),
  }
}
