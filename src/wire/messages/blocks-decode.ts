// The content blocks of a messages request, each as the canonical parts it means. A block that only this format has is
// turned into text where a model can read it, else dropped and named.
import { invalidRequest } from '../../core/errors.ts'
import { defined } from '../../core/json.ts'
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
import type { Fields } from '../read.ts'
import {
  fieldsOf,
  optionalList,
  optionalObject,
  optionalString,
  placeOf,
  requiredString,
} from '../read.ts'
import { unpackSeal } from '../seal.ts'
import { shortCallId, shortToolName } from './tool-names.ts'

type MediaPart = TextPart | ImagePart | FilePart

export function decodeUserBlock(block: Fields, dropped: Set<string>): UserPart[] {
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a user message')
}

export function decodeToolResultBlock(block: Fields, dropped: Set<string>): MediaPart[] {
  if (block.values['type'] === 'tool_reference') {
    return [
      { type: 'text', text: `The tool ${requiredString(block, 'tool_name')} can be used now.` },
    ]
  }
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a tool result')
}

export function decodeAssistantBlock(block: Fields, dropped: Set<string>): AssistantPart[] {
  const type = requiredString(block, 'type')
  switch (type) {
    case 'text':
      return [decodeText(block)]
    case 'tool_use':
      return [decodeToolUse(block)]
    case 'thinking':
    case 'redacted_thinking':
      return [decodeThinking(block, type)]
    default:
      // What a tool did at another provider cannot be told to this one.
      if (type === 'server_tool_use' || type === 'mcp_tool_use' || type.endsWith('_tool_result')) {
        dropped.add(`messages.content.${type}`)
        return []
      }
      return refuseBlock(block, 'an assistant message')
  }
}

export function decodeText(block: Fields): TextPart {
  if (block.values['type'] !== 'text')
    return refuseBlock(block, 'this place, which takes only text')
  return defined({
    type: 'text' as const,
    text: requiredString(block, 'text'),
    cache: decodeCacheMark(block),
  })
}

export function decodeCacheMark(fields: Fields): CacheMark | undefined {
  const mark = optionalObject(fields, 'cache_control')
  return mark && defined({ ttl: optionalString(mark, 'ttl') })
}

function refuseBlock(block: Fields, where: string): never {
  const place = placeOf(block, 'type')
  const type = JSON.stringify(block.values['type'] ?? null)
  throw invalidRequest(place, `${place} ${type} cannot be used in ${where} with this model`)
}

/** What a user or a tool may show; undefined for any other block. */
function decodeMedia(block: Fields, dropped: Set<string>): MediaPart[] | undefined {
  const type = requiredString(block, 'type')
  switch (type) {
    case 'text':
      return [decodeText(block)]
    case 'image': {
      const source = decodeSource(block)
      return [defined({ type: 'image' as const, source, cache: decodeCacheMark(block) })]
    }
    case 'document':
      return decodeDocument(block, dropped)
    case 'search_result':
      return [decodeSearchResult(block, dropped)]
    default:
      return undefined
  }
}

function decodeDocument(block: Fields, dropped: Set<string>): MediaPart[] {
  noteCitations(block, dropped)
  const source = requiredObject(block, 'source')
  const name = optionalString(block, 'title')
  const context = optionalString(block, 'context')
  const cache = decodeCacheMark(block)
  const lead: TextPart[] = context === undefined ? [] : [{ type: 'text', text: context }]
  switch (requiredString(source, 'type')) {
    case 'text': {
      const text = requiredString(source, 'data')
      return [
        ...lead,
        defined({ type: 'file' as const, source: { type: 'text' as const, text }, name, cache }),
      ]
    }
    case 'content': {
      // Its blocks are shown one after the other, under the document's title.
      if (name !== undefined) lead.unshift({ type: 'text', text: name })
      return [...lead, ...decodeInnerContent(source, dropped)]
    }
    default:
      return [...lead, defined({ type: 'file' as const, source: decodeSource(block), name, cache })]
  }
}

function decodeInnerContent(source: Fields, dropped: Set<string>): MediaPart[] {
  if (typeof source.values['content'] === 'string') {
    return [{ type: 'text', text: source.values['content'] }]
  }
  const path = placeOf(source, 'content')
  return (optionalList(source, 'content') ?? []).flatMap((value, index) => {
    const inner = fieldsOf(value, `${path}[${index}]`)
    return decodeMedia(inner, dropped) ?? refuseBlock(inner, 'a document')
  })
}

function decodeSearchResult(block: Fields, dropped: Set<string>): TextPart {
  noteCitations(block, dropped)
  const path = placeOf(block, 'content')
  const texts = (optionalList(block, 'content') ?? []).map(
    (value, index) => decodeText(fieldsOf(value, `${path}[${index}]`)).text,
  )
  const head = `${requiredString(block, 'title')}\n${requiredString(block, 'source')}`
  const cache = decodeCacheMark(block)
  return defined({ type: 'text' as const, text: [head, ...texts].join('\n\n'), cache })
}

function noteCitations(block: Fields, dropped: Set<string>): void {
  if (optionalObject(block, 'citations')?.values['enabled'] === true) {
    dropped.add('messages.content.citations')
  }
}

function decodeSource(block: Fields): Base64Source | UrlSource {
  const source = requiredObject(block, 'source')
  const type = requiredString(source, 'type')
  switch (type) {
    case 'url':
      return { type, url: requiredString(source, 'url') }
    case 'base64': {
      const data = requiredString(source, 'data')
      if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
        throw invalidRequest(
          placeOf(source, 'data'),
          `${placeOf(source, 'data')} is not valid base64`,
        )
      }
      return { type, mediaType: requiredString(source, 'media_type'), data }
    }
    default:
      throw invalidRequest(
        placeOf(source, 'type'),
        `${placeOf(source, 'type')} must be base64 or url`,
      )
  }
}

function requiredObject(fields: Fields, name: string): Fields {
  return fieldsOf(fields.values[name], placeOf(fields, name))
}

function decodeToolUse(block: Fields): ToolCallPart {
  const input = requiredObject(block, 'input').values
  return defined({
    type: 'tool-call' as const,
    id: shortCallId(requiredString(block, 'id')),
    name: shortToolName(requiredString(block, 'name')),
    input: JSON.stringify(input),
    custom: false,
    cache: decodeCacheMark(block),
  })
}

function decodeThinking(block: Fields, type: 'thinking' | 'redacted_thinking'): ThinkingPart {
  const isRedacted = type === 'redacted_thinking'
  const text = isRedacted ? '' : requiredString(block, 'thinking')
  const sealed = isRedacted
    ? requiredString(block, 'data')
    : (optionalString(block, 'signature') ?? '')
  const kind = isRedacted ? 'redacted' : 'signature'
  const seal = unpackSeal(sealed, { format: 'messages', kind })
  return seal.value === '' ? { type: 'thinking', text } : { type: 'thinking', text, seal }
}
