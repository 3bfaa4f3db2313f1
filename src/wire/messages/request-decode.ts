// A messages request, read in full for translation. What only the messages format has is dropped and named, or becomes
// text if a model can read it that way; what cannot be understood is a 400 that names its place.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
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
  ReasoningPart,
  ToolCallPart,
  UrlSource,
  UserPart,
} from '../../core/request.ts'
import { decodeUrl, expectBase64, usualType } from '../content/media.ts'
import { PACK_MARK, unpackReasoning } from '../content/opaque-reasoning.ts'
import { canBeStrict } from '../content/schemas.ts'
import {
  cacheMarkOf,
  countOf,
  decodeServiceTier,
  droppedFields,
  modelOf,
  streamOf,
  unknownMembers,
} from '../contract/fields.ts'
import { expect, Placed } from '../json/expect.ts'
import { asksToSeeReasoning, isBillingLine, removalsFrom, sessionOf } from './call.ts'
import { MESSAGES_FIELDS, MESSAGES_SHAPE } from './fields.ts'
import { decodeToolChoice, decodeTools, shortToolName } from './tools.ts'

export function decodeRequest(whole: JsonObject): Conversation {
  const removals = removalsFrom(whole)
  const given: JsonObject = { ...whole, ...removals.changes }
  const dropped = new Set([
    ...removals.dropped,
    ...droppedFields(given, MESSAGES_FIELDS),
    ...unknownMembers(given, MESSAGES_SHAPE),
  ])
  const body = new Placed(given)
  const tools = isGiven(given['tools']) ? decodeTools(body, dropped) : []
  const metadata = body.optional('metadata', expect.placed)
  const endUser = metadata?.optional('user_id', expect.text)
  const config = body.optional('output_config', expect.placed)
  return defined({
    kind: 'chat' as const,
    model: modelOf(given),
    stream: streamOf(given),
    messages: decodeMessages(body, dropped),
    tools,
    ...(isGiven(given['tool_choice']) && decodeToolChoice(body, tools, dropped)),
    outputTokensMax: decodeOutputLimit(given),
    outputFormat: decodeOutputFormat(body, config),
    reasoning: decodeReasoning(body, config, dropped),
    hidesReasoning: asksToSeeReasoning(given) ? undefined : true,
    sampling: decodeSampling(body),
    choices: 1,
    endUser,
    cacheKey: sessionOf(endUser),
    cache: decodeCacheMark(body),
    serviceTier: decodeServiceTier(given),
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

function decodeSampling(body: Placed): Conversation['sampling'] {
  const stop = body.optional('stop_sequences', expect.texts)
  return defined({
    temperature: body.optional('temperature', expect.number),
    topP: body.optional('top_p', expect.number),
    topK: body.optional('top_k', expect.number),
    stop: stop?.length === 0 ? undefined : stop,
  })
}

/** `output_format` is what `output_config.format` was called in its beta. */
function decodeOutputFormat(body: Placed, config: Placed | undefined): OutputFormat | undefined {
  const format =
    config?.optional('format', expect.placed) ?? body.optional('output_format', expect.placed)
  if (format === undefined) return undefined
  if (typeOf(format.value) !== 'json_schema') {
    throw invalidRequest(format.at('type'), `${format.at('type')} must be json_schema`)
  }
  const schema = format.get('schema', expect.object)
  return {
    type: 'json-schema',
    // Schemas have no names in this format, but other formats require one.
    name: 'output',
    schema,
    // Here a model is bound to every schema; elsewhere to those that can be strict, and only if that is asked for.
    ...(canBeStrict(schema) && { strict: true }),
  }
}

const expectEffort = expect.oneOf<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])
const DISPLAYS = new Map<string, Reasoning['display']>([
  ['summarized', 'summary'],
  ['omitted', 'omitted'],
])
const expectThinking = expect.oneOf(['enabled', 'adaptive', 'between_tools', 'disabled'])

function decodeReasoning(
  body: Placed,
  config: Placed | undefined,
  dropped: Set<string>,
): Reasoning | undefined {
  const effort = config?.optional('effort', expectEffort)
  const thinking = body.optional('thinking', expect.placed)
  if (thinking === undefined) return effort && { effort }
  const shown = thinking.optional('display', expect.text)
  const display = DISPLAYS.get(shown ?? '')
  // Clients use newer values than any list has. None of them is essential, so an unknown one is dropped, not refused.
  if (shown !== undefined && display === undefined) dropped.add('thinking.display')
  switch (thinking.get('type', expectThinking)) {
    case 'adaptive':
      // The default effort of this format. In other formats a model may not reason unless it is given an effort.
      return defined({ effort: effort ?? 'high', display })
    case 'enabled':
      return defined({ effort, tokensMax: thinking.get('budget_tokens', expect.positive), display })
    case 'between_tools':
      // Other models also reason before they answer, so they get the lowest effort of this format.
      dropped.add('thinking.type')
      return defined({ effort: effort ?? 'low', display })
    case 'disabled':
      if (effort !== undefined) dropped.add('output_config.effort')
      return { effort: 'none' }
  }
}

const expectRole = expect.oneOf(['user', 'assistant', 'system'])

/** One turn may become several messages: each tool result is a separate one, right after the turn that made the call. */
function decodeMessages(body: Placed, dropped: Set<string>): Message[] {
  const turns = body.get('messages', expect.placedList)
  if (turns.length === 0) throw invalidRequest('messages', 'messages must have at least one entry')
  const list = new MessageList(decodeSystem(body, 'system', dropped))
  for (const turn of turns) {
    switch (turn.get('role', expectRole)) {
      case 'user':
        addUserTurn(list, blocksOf(turn, 'content'), dropped)
        break
      case 'assistant': {
        const blocks = blocksOf(turn, 'content')
        list.addAssistant(
          blocks.flatMap((block) => decodeAssistantBlock(block, dropped)),
          turn.place,
        )
        break
      }
      case 'system':
        for (const message of decodeSystem(turn, 'content', dropped)) list.add(message)
    }
  }
  return list.finish()
}

/** Instructions, before the conversation or within it. Those that only set something for their turn have no content. */
function decodeSystem(holder: Placed, name: string, dropped: Set<string>): Message[] {
  if ((holder.value[name] ?? '') === '') return []
  const parts = blocksOf(holder, name)
    .map((block) => decodeText(block, dropped))
    .filter((part) => !isBillingLine(part.text))
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function blocksOf(holder: Placed, name: string): readonly Placed[] {
  const content = holder.value[name]
  const place = holder.at(name)
  if (typeof content === 'string') return [new Placed({ type: 'text', text: content }, place)]
  if (isArray(content)) return expect.placedList(content, place)
  throw invalidRequest(place, `${place} must be a string or a list of blocks`)
}

function addUserTurn(list: MessageList, blocks: readonly Placed[], dropped: Set<string>): void {
  const parts: UserPart[] = []
  for (const block of blocks) {
    if (block.value['type'] === 'tool_result') list.addResult(block, dropped)
    else parts.push(...(decodeMedia(block, dropped) ?? refuseBlock(block, 'a user message')))
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

  addResult(block: Placed, dropped: Set<string>): void {
    const callId = block.get('tool_use_id', expect.text)
    if (!this.#waiting.delete(callId)) {
      const place = block.at('tool_use_id')
      throw invalidRequest(
        place,
        `${place} does not match a tool_use of the assistant turn before it`,
      )
    }
    const blocks = isGiven(block.value['content']) ? blocksOf(block, 'content') : []
    const result = defined({
      role: 'tool' as const,
      callId,
      parts: blocks.flatMap((inner) => decodeToolResultBlock(inner, dropped)),
      isError: block.optional('is_error', expect.boolean),
      cache: decodeCacheMark(block),
    })
    this.#messages.push(result)
    this.#openParts = undefined
  }

  finish(): Message[] {
    this.#closeTurn()
    return this.#messages
  }

  #closeTurn(): void {
    const [waiting] = this.#waiting
    if (waiting !== undefined) {
      const place = this.#callsPlace
      throw invalidRequest(
        place,
        `${place} has the tool_use ${waiting}, but no tool_result follows for it`,
      )
    }
    for (const message of this.#following) this.#messages.push(message)
    this.#following = []
  }
}

type MediaPart = TextPart | ImagePart | FilePart

function decodeToolResultBlock(block: Placed, dropped: Set<string>): readonly MediaPart[] {
  if (typeOf(block.value) === 'tool_reference') {
    const name = block.get('tool_name', expect.name)
    const text = `The tool ${shortToolName(name)} can be used now.`
    return [defined({ type: 'text' as const, text, cache: decodeCacheMark(block) })]
  }
  return decodeMedia(block, dropped) ?? refuseBlock(block, 'a tool result')
}

function decodeAssistantBlock(block: Placed, dropped: Set<string>): AssistantPart[] {
  const type = typeOf(block.value)
  switch (type) {
    case 'text':
      return [decodeText(block, dropped)]
    case 'tool_use':
      return [decodeToolUse(block)]
    case 'thinking':
      return [decodeReasoningBlock(block)]
    case 'redacted_thinking': {
      const data = block.get('data', expect.text)
      const opaque = unpackReasoning(data, { format: 'messages', kind: 'redacted' })
      return [{ type: 'reasoning', text: '', opaque }]
    }
    default:
      // What a hosted tool did at one provider cannot be expressed to another.
      if (type === 'server_tool_use' || type === 'mcp_tool_use' || type.endsWith('_tool_result')) {
        dropped.add(`messages.content.${type}`)
        return []
      }
      return refuseBlock(block, 'an assistant message')
  }
}

function decodeText(block: Placed, dropped: Set<string>): TextPart {
  if (typeOf(block.value) !== 'text') return refuseBlock(block, 'a place for text')
  noteCitations(block.value, dropped)
  const text = block.get('text', expect.text)
  return defined({ type: 'text' as const, text, cache: decodeCacheMark(block) })
}

function decodeCacheMark(holder: Placed): CacheMark | undefined {
  return cacheMarkOf(holder, 'cache_control')
}

function refuseBlock({ value, place }: Placed, where: string): never {
  const type = typeOf(value)
  const what = type === '' ? 'a block without a type' : `a block of type ${type}`
  throw invalidRequest(place, `${place} is ${what}, which cannot be translated in ${where}`)
}

/** Decodes what both users and tools may send; undefined for any other block. */
function decodeMedia(block: Placed, dropped: Set<string>): readonly MediaPart[] | undefined {
  switch (typeOf(block.value)) {
    case 'text':
      return [decodeText(block, dropped)]
    case 'image': {
      const cache = decodeCacheMark(block)
      return [defined({ type: 'image' as const, source: block.get('source', decodeSource), cache })]
    }
    case 'document':
      return decodeDocument(block, dropped)
    case 'search_result':
      return [decodeSearchResult(block, dropped)]
    default:
      return undefined
  }
}

function decodeDocument(block: Placed, dropped: Set<string>): readonly MediaPart[] {
  noteCitations(block.value, dropped)
  const source = block.get('source', expect.placed)
  const name = block.optional('title', expect.textIfAny)
  const context = block.optional('context', expect.textIfAny)
  const cache = decodeCacheMark(block)
  const lead: TextPart[] = context === undefined ? [] : [{ type: 'text', text: context }]
  switch (typeOf(source.value)) {
    case 'text': {
      const plain = { type: 'text' as const, text: source.get('data', expect.text) }
      return [...lead, defined({ type: 'file' as const, source: plain, name, cache })]
    }
    case 'content':
      // Its blocks become parts of their own, after the document's title.
      if (name !== undefined) lead.unshift({ type: 'text', text: name })
      return markLast([...lead, ...decodeInnerContent(source, dropped)], cache)
    default: {
      const file = decodeSource(source.value, source.place)
      return [...lead, defined({ type: 'file' as const, source: file, name, cache })]
    }
  }
}

/** A cache mark covers everything before it, so it goes on the last of several parts. */
function markLast(parts: readonly MediaPart[], cache: CacheMark | undefined): readonly MediaPart[] {
  const last = parts.at(-1)
  if (last === undefined || cache === undefined) return parts
  return [...parts.slice(0, -1), { ...last, cache }]
}

function decodeInnerContent(source: Placed, dropped: Set<string>): readonly MediaPart[] {
  const { content } = source.value
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return source
    .get('content', expect.placedList)
    .flatMap((block) => decodeMedia(block, dropped) ?? refuseBlock(block, 'a document'))
}

function decodeSearchResult(block: Placed, dropped: Set<string>): TextPart {
  noteCitations(block.value, dropped)
  const title = block.get('title', expect.text)
  const source = block.get('source', expect.text)
  const parts = block.get('content', expect.placedList).map((part) => decodeText(part, dropped))
  const text = [`${title}\n${source}`, ...parts.map((part) => part.text)].join('\n\n')
  const inner = parts.findLast((part) => part.cache !== undefined)
  const cache = decodeCacheMark(block) ?? inner?.cache
  return defined({ type: 'text' as const, text, cache })
}

/** Reports citations as dropped, both requested ones and those in earlier answers. */
function noteCitations({ citations }: JsonObject, dropped: Set<string>): void {
  const isWanted = isObject(citations) && citations['enabled'] === true
  const isThere = isArray(citations) && citations.length > 0
  if (isWanted || isThere) dropped.add('messages.content.citations')
}

function decodeSource(value: unknown, place: string): Base64Source | UrlSource {
  const source = expect.placed(value, place)
  switch (typeOf(source.value)) {
    case 'url':
      return source.get('url', decodeUrl)
    case 'base64': {
      const mediaType = usualType(source.get('media_type', expect.name))
      return { type: 'base64', mediaType, data: source.get('data', expectBase64) }
    }
    default:
      throw invalidRequest(source.at('type'), `${source.at('type')} must be base64 or url`)
  }
}

function decodeToolUse(block: Placed): ToolCallPart {
  return defined({
    type: 'tool-call' as const,
    id: block.get('id', expect.name),
    name: shortToolName(block.get('name', expect.name)),
    input: JSON.stringify(block.optional('input', expect.object) ?? {}),
    custom: false,
    cache: decodeCacheMark(block),
  })
}

/** Unpacks the reasoning of another format. An empty pack, like an empty string, is no signature. */
function decodeReasoningBlock(block: Placed): ReasoningPart {
  const text = block.get('thinking', expect.text)
  const signature = block.optional('signature', expect.text) ?? ''
  if (signature === '' || signature === PACK_MARK) return { type: 'reasoning', text }
  const opaque = unpackReasoning(signature, { format: 'messages', kind: 'signature' })
  return { type: 'reasoning', text, opaque }
}
