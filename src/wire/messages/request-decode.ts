// A messages request, read in full for translation. What only the messages format has is dropped and named; what
// cannot be understood is a 400 that names its place.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, isObject, typeOf } from '../../core/json.ts'
import type {
  AssistantPart,
  Base64Source,
  CacheMark,
  Conversation,
  Effort,
  FilePart,
  ImagePart,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UrlSource,
  UserPart,
} from '../../core/request.ts'
import { decodeUrl, expectBase64, usualType } from '../content/media.ts'
import { SEAL_MARK, unpackSeal } from '../content/opaque-reasoning.ts'
import { canBeStrict } from '../content/schemas.ts'
import { countOf, decodeServiceTier, modelOf, streamOf } from '../contract/call-fields.ts'
import { droppedFields, unknownMembers } from '../contract/fields.ts'
import {
  expectBoolean,
  expectList,
  expectName,
  expectNumber,
  expectObject,
  expectOneOf,
  expectPositive,
  expectText,
  expectTexts,
  optional,
  optionalText,
} from '../json/expect.ts'
import { decodeCacheMark } from './cache.ts'
import { isBillingLine, removalsFrom, sessionOf } from './call.ts'
import { MESSAGES_FIELDS, MESSAGES_SHAPE } from './fields.ts'
import { asksForThoughts } from './reasoning.ts'
import { decodeToolChoice, decodeTools, shortToolName } from './tools.ts'

export function decodeRequest(whole: JsonObject): Conversation {
  const removals = removalsFrom(whole)
  const body: JsonObject = { ...whole, ...removals.changes }
  const dropped = new Set([
    ...removals.dropped,
    ...droppedFields(body, MESSAGES_FIELDS),
    ...unknownMembers(body, MESSAGES_SHAPE),
  ])
  const tools = decodeTools(body, dropped)
  const metadata = optional(body['metadata'], 'metadata', expectObject) ?? {}
  const endUser = optional(metadata['user_id'], 'metadata.user_id', expectText)
  const config = optional(body['output_config'], 'output_config', expectObject) ?? {}
  return defined({
    kind: 'chat' as const,
    model: modelOf(body),
    stream: streamOf(body),
    messages: decodeMessages(body, dropped),
    tools,
    ...decodeToolChoice(body, tools, dropped),
    outputTokensMax: decodeOutputLimit(body),
    outputFormat: decodeOutputFormat(body, config),
    reasoning: decodeReasoning(body, config, dropped),
    hidesThoughts: asksForThoughts(body) ? undefined : true,
    sampling: decodeSampling(body),
    choices: 1,
    endUser,
    cacheKey: sessionOf(endUser),
    cache: decodeCacheMark(body, ''),
    serviceTier: decodeServiceTier(body),
    // Last, because decoding the rest adds to it.
    dropped: [...dropped],
  })
}

function decodeOutputLimit(body: JsonObject): number | undefined {
  if (body['max_tokens'] === 0) {
    throw unsupportedParameter(
      'max_tokens',
      'max_tokens 0 only warms a cache, which the provider of this model does not offer: ask for at least 1',
    )
  }
  return countOf(body, 'max_tokens', 1)
}

function decodeSampling(body: JsonObject): Conversation['sampling'] {
  const stop = optional(body['stop_sequences'], 'stop_sequences', expectTexts)
  return defined({
    temperature: optional(body['temperature'], 'temperature', expectNumber),
    topP: optional(body['top_p'], 'top_p', expectNumber),
    topK: optional(body['top_k'], 'top_k', expectNumber),
    stop: stop?.length === 0 ? undefined : stop,
  })
}

/** `output_format` is what `output_config.format` was called in its beta. */
function decodeOutputFormat(body: JsonObject, config: JsonObject): OutputFormat | undefined {
  const place = isGiven(config['format']) ? 'output_config.format' : 'output_format'
  const format = optional(config['format'] ?? body['output_format'], place, expectObject)
  if (format === undefined) return undefined
  if (typeOf(format) !== 'json_schema') {
    throw invalidRequest(`${place}.type`, `${place}.type must be json_schema`)
  }
  const schema = expectObject(format['schema'], `${place}.schema`)
  return {
    type: 'json-schema',
    // Schemas have no names in this format, but other formats require one.
    name: 'output',
    schema,
    // Here a model is bound to every schema; elsewhere to those that can be strict, and only if that is asked for.
    ...(canBeStrict(schema) && { strict: true }),
  }
}

const expectEffort = expectOneOf<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])
const DISPLAYS = new Map<string, Reasoning['display']>([
  ['summarized', 'summary'],
  ['omitted', 'omitted'],
])
const expectThinking = expectOneOf(['enabled', 'adaptive', 'between_tools', 'disabled'])

function decodeReasoning(
  body: JsonObject,
  config: JsonObject,
  dropped: Set<string>,
): Reasoning | undefined {
  const effort = optional(config['effort'], 'output_config.effort', expectEffort)
  const thinking = optional(body['thinking'], 'thinking', expectObject)
  if (thinking === undefined) return effort && { effort }
  const shown = optional(thinking['display'], 'thinking.display', expectText)
  const display = DISPLAYS.get(shown ?? '')
  // Clients use newer values than any list has. None of them is essential, so an unknown one is dropped, not refused.
  if (shown !== undefined && display === undefined) dropped.add('thinking.display')
  switch (expectThinking(thinking['type'], 'thinking.type')) {
    case 'adaptive':
      // The default effort of this format. In other formats a model may not think unless it is given an effort.
      return defined({ effort: effort ?? 'high', display })
    case 'enabled': {
      const tokensMax = expectPositive(thinking['budget_tokens'], 'thinking.budget_tokens')
      return defined({ effort, tokensMax, display })
    }
    case 'between_tools':
      // Other models also think before they answer, so they get the lowest effort of this format.
      dropped.add('thinking.type')
      return defined({ effort: effort ?? 'low', display })
    case 'disabled':
      if (effort !== undefined) dropped.add('output_config.effort')
      return { effort: 'none' }
  }
}

// The system prompt and the turns of a messages request. One turn may become several canonical messages: each tool
// result is a separate message, right after the turn that made the call.

const expectRole = expectOneOf(['user', 'assistant', 'system'])

function decodeMessages(body: JsonObject, dropped: Set<string>): Message[] {
  const turns = expectList(body['messages'], 'messages')
  if (turns.length === 0) throw invalidRequest('messages', 'messages must have at least one entry')
  const list = new MessageList(decodeSystem(body['system'], 'system', dropped))
  for (const [index, value] of turns.entries()) {
    const place = `messages[${index}]`
    const turn = expectObject(value, place)
    const { content } = turn
    const at = `${place}.content`
    switch (expectRole(turn['role'], `${place}.role`)) {
      case 'user':
        addUserTurn(list, blocksOf(content, at), dropped)
        break
      case 'assistant': {
        const parts = blocksOf(content, at).flatMap((block) => decodeAssistantBlock(block, dropped))
        list.addAssistant(parts, place)
        break
      }
      case 'system':
        for (const message of decodeSystem(content, at, dropped)) list.add(message)
    }
  }
  return list.finish()
}

/** Instructions, before the conversation or within it. Those that only set something for their turn have no content. */
function decodeSystem(content: Json | undefined, place: string, dropped: Set<string>): Message[] {
  if ((content ?? '') === '') return []
  const parts = blocksOf(content, place)
    .map((block) => decodeText(block, dropped))
    .filter((part) => !isBillingLine(part.text))
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function blocksOf(content: Json | undefined, place: string): Block[] {
  if (typeof content === 'string') return [{ value: { type: 'text', text: content }, place }]
  if (!isArray(content))
    throw invalidRequest(place, `${place} must be a string or a list of blocks`)
  return content.map((block, index) => {
    const at = `${place}[${index}]`
    return { value: expectObject(block, at), place: at }
  })
}

function addUserTurn(list: MessageList, blocks: readonly Block[], dropped: Set<string>): void {
  const parts: UserPart[] = []
  for (const block of blocks) {
    if (block.value['type'] === 'tool_result') list.addResult(block, dropped)
    else parts.push(...decodeUserBlock(block, dropped))
  }
  if (parts.length > 0) list.add({ role: 'user', parts })
}

/** The messages so far, and the calls of the last assistant turn that wait for their results. */
class MessageList {
  readonly #messages: Message[]
  readonly #waiting = new Set<string>()
  #callsPlace = ''
  /** The parts of the assistant turn that the last message is; undefined = it is something else. */
  #openParts: AssistantPart[] | undefined
  /** What follows the last assistant turn, except the results of its calls, which come before all of it. */
  #following: Message[] = []

  constructor(messages: Message[]) {
    this.#messages = messages
  }

  add(message: Message): void {
    this.#following.push(message)
    this.#openParts = undefined
  }

  addAssistant(parts: readonly AssistantPart[], place: string): void {
    // Here consecutive turns of one role count as one. Other formats require the calls in the last of them.
    let open = this.#openParts
    if (open === undefined) {
      this.#refuseWaiting()
      this.#closeTurn()
      open = []
      this.#messages.push({ role: 'assistant', parts: open })
      this.#openParts = open
    }
    for (const part of parts) {
      open.push(part)
      if (part.type === 'tool-call') this.#waiting.add(part.id)
    }
    this.#callsPlace = place
  }

  addResult({ value, place }: Block, dropped: Set<string>): void {
    const callId = expectText(value['tool_use_id'], `${place}.tool_use_id`)
    if (!this.#waiting.delete(callId)) {
      throw invalidRequest(
        `${place}.tool_use_id`,
        `${place}.tool_use_id does not match a tool_use of the assistant turn before it`,
      )
    }
    const blocks = blocksOf(value['content'] ?? [], `${place}.content`)
    const result = defined({
      role: 'tool' as const,
      callId,
      parts: blocks.flatMap((block) => decodeToolResultBlock(block, dropped)),
      isError: optional(value['is_error'], `${place}.is_error`, expectBoolean),
      cache: decodeCacheMark(value, place),
    })
    this.#messages.push(result)
    this.#openParts = undefined
  }

  finish(): Message[] {
    this.#refuseWaiting()
    this.#closeTurn()
    return this.#messages
  }

  #closeTurn(): void {
    for (const message of this.#following) this.#messages.push(message)
    this.#following = []
  }

  #refuseWaiting(): void {
    const [id] = this.#waiting
    if (id === undefined) return
    const place = this.#callsPlace
    throw invalidRequest(
      place,
      `${place} has the tool_use ${id}, but no tool_result follows for it`,
    )
  }
}

// The content blocks of a messages request as canonical parts. A block that only this format has becomes text if a
// model can read it that way, and is otherwise dropped and named.

/** A block and where it stands in the request. */
type Block = { readonly value: JsonObject; readonly place: string }
type MediaPart = TextPart | ImagePart | FilePart

function decodeUserBlock(block: Block, dropped: Set<string>): UserPart[] {
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a user message')
}

function decodeToolResultBlock(block: Block, dropped: Set<string>): MediaPart[] {
  const { value, place } = block
  if (typeOf(value) === 'tool_reference') {
    const name = expectName(value['tool_name'], `${place}.tool_name`)
    const text = `The tool ${shortToolName(name)} can be used now.`
    return [defined({ type: 'text' as const, text, cache: decodeCacheMark(value, place) })]
  }
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a tool result')
}

function decodeAssistantBlock(block: Block, dropped: Set<string>): AssistantPart[] {
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

function decodeText(block: Block, dropped: Set<string>): TextPart {
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
