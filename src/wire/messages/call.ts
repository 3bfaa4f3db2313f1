// What admission reads from a messages request, in passthrough too: the model, the limits, what is removed from it, and
// in one walk over it, how much the model will read and which abilities it needs. Refuses references to files in the
// provider account, which all keys share, and hosted tools defined inside messages; the provider judges the rest.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  defined,
  isArray,
  isGiven,
  isObject,
  listOf,
  objectOf,
  parseObject,
  stringOf,
  typeOf,
} from '../../core/json.ts'
import type { Call } from '../../core/request.ts'
import { dataType } from '../content/media.ts'
import { changedEntries, isPacked } from '../content/opaque-reasoning.ts'
import type { Removals } from '../contract/codec.ts'
import {
  affinityBy,
  countOf,
  modelOf,
  refuseAccountFiles,
  refuseFields,
  refuseLongLists,
  streamOf,
} from '../contract/fields.ts'
import { Measure } from '../contract/measure.ts'
import { expect, optional } from '../json/expect.ts'
import { MESSAGE, MESSAGES_FIELDS } from './fields.ts'
import { isHosted, removeTools, searchesMaxOf, vendorToolsIn } from './tools.ts'
import type { Removing } from './tools.ts'

export function readCall(body: JsonObject, measure?: Measure): Call {
  if (countOf(body, 'max_tokens', 0) === undefined) {
    throw invalidRequest(
      'max_tokens',
      'max_tokens is required: the maximum number of tokens to write',
    )
  }
  return readCountCall(body, measure)
}

/** The same for a request whose tokens are only counted: it needs no output limit. */
export function readCountCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  const stream = streamOf(body)
  if (!isArray(body['messages'])) throw invalidRequest('messages', 'messages must be a list')
  refuseFields(body, MESSAGES_FIELDS)
  refuseLongLists(body)
  const { changes, dropped } = removalsFrom(body)
  const searchesMax = isArray(body['tools']) ? searchesMaxOf(body['tools']) : 0
  measureInput(body, changes, measure)
  const thinking = isObject(body['thinking']) ? body['thinking'] : { type: 'disabled' }
  const reasoningBudget = optional(
    thinking['budget_tokens'],
    'thinking.budget_tokens',
    expect.count,
  )
  if (reasoningBudget !== undefined) measure.needs.add('reasoning')
  const endUser = stringOf(objectOf(body['metadata'])['user_id'])
  return {
    model,
    stream,
    input: measure.sum,
    output: defined({
      tokensMax: countOf(body, 'max_tokens', 0),
      choices: 1,
      reasoningBudget,
      reasons: thinking['type'] !== 'disabled',
    }),
    needs: [...measure.needs],
    dropped,
    ...(measure.hasForeignReasoning && {
      droppedInPassthrough: withoutForeignReasoning(body)?.dropped ?? [],
    }),
    ...(searchesMax === 0
      ? {}
      : { search: { searchesMax, dropped: removalsFrom(body, { maySearch: true }).dropped } }),
    ...defined({ endUser }),
  }
}

/**
 * What is removed from every request: hosted tools, compaction, and what refers to earlier answers. They cost more than
 * the hold covers, or reach what another key left in the shared account. Only web searches may stay, where the hold
 * covers them.
 */
export function removalsFrom(body: JsonObject, { maySearch = false } = {}): Removals {
  const removals: Removing = { changes: {}, dropped: [] }
  for (const name of ['compaction', 'diagnostics', 'fallback_credit_token']) {
    if (!isGiven(body[name])) continue
    removals.changes[name] = undefined
    removals.dropped.push(name)
  }
  if (isArray(body['tools'])) removeTools(body, maySearch, removals)
  removeCompactingEdits(body, removals)
  return removals
}

function removeCompactingEdits(
  { context_management: management }: JsonObject,
  { changes, dropped }: Removing,
): void {
  // LiteLLM takes the list of the responses format here, too.
  if (isArray(management)) {
    changes['context_management'] = undefined
    dropped.push('context_management')
  }
  if (!isObject(management) || !isArray(management['edits'])) return
  const isCompacting = (edit: Json): boolean =>
    isObject(edit) && typeof edit['type'] === 'string' && edit['type'].startsWith('compact')
  const kept = management['edits'].filter((edit) => !isCompacting(edit))
  if (kept.length === management['edits'].length) return
  changes['context_management'] = { ...management, edits: kept }
  dropped.push('context_management.edits.compact')
}

/** `changes`: what is removed from every request. Cache marks on removed tools count: searches may stay. */
function measureInput(given: JsonObject, changes: JsonObject, measure: Measure): void {
  const body = { ...given, ...changes }
  measure.cacheMarks(body, '', CACHE_MARKS)
  readContent(body['system'], 'system', measure)
  for (const [index, message] of listOf(body['messages']).entries()) {
    measure.item()
    if (!isObject(message)) {
      measure.json(message)
      continue
    }
    measure.role(message['role'])
    measure.unknownFields(message, MESSAGE)
    readContent(message['content'], `messages[${index}].content`, measure)
  }
  for (const tool of listOf(body['tools'])) {
    measure.tool(tool, { known: isObject(tool) ? vendorToolsIn(tool) : 0 })
  }
  for (const [index, tool] of listOf(given['tools']).entries()) {
    if (isObject(tool)) measure.cacheMarks(tool, `tools[${index}]`, CACHE_MARKS)
  }
  const format = objectOf(body['output_config'])['format'] ?? body['output_format']
  measure.json(format)
  if (isObject(format)) measure.needs.add('structured_output')
  measure.unknownFields(body, MESSAGES_FIELDS)
}

function readContent(content: Json | undefined, place: string, measure: Measure): void {
  if (!isArray(content)) return measure.text(content)
  content.forEach((block, index) => readBlock(block, `${place}[${index}]`, measure))
}

function readBlock(block: Json, place: string, measure: Measure): void {
  measure.item()
  if (!isObject(block)) return measure.json(block)
  measure.cacheMarks(block, place, CACHE_MARKS)
  switch (typeOf(block)) {
    case 'text':
      readCitations(block, measure)
      return measure.text(block['text'])
    case 'image':
      readUnknown(block['source'], `${place}.source`, measure)
      return measure.image(sourceType(block['source']))
    case 'document':
      return readDocument(block, place, measure)
    case 'thinking':
      measure.hasForeignReasoning ||= isPacked(block['signature'])
      measure.text(block['thinking'])
      // The signature contains all the reasoning, encrypted, even when the text is short or omitted.
      return measure.opaque(block['signature'])
    case 'redacted_thinking':
      measure.hasForeignReasoning ||= isPacked(block['data'])
      return measure.opaque(block['data'])
    case 'tool_use':
      return measure.json(block)
    case 'tool_result':
      measure.text(block['tool_use_id'])
      return readToolResult(block['content'], `${place}.content`, measure)
    case 'search_result':
      measure.text(block['source'])
      measure.text(block['title'])
      return readContent(block['content'], `${place}.content`, measure)
    default:
      readUnknown(block, place, measure)
      measure.json(block)
      return measure.unbounded()
  }
}

function readDocument(block: JsonObject, place: string, measure: Measure): void {
  const { source, title, context } = block
  readUnknown(source, `${place}.source`, measure)
  measure.text(title)
  measure.text(context)
  if (isObject(source) && source['type'] === 'text') return measure.text(source['data'])
  if (isObject(source) && source['type'] === 'content') {
    return readContent(source['content'], `${place}.source.content`, measure)
  }
  measure.file(sourceType(source))
}

/** The media type that a source declares; undefined for an http URL, which declares none. */
function sourceType(source: Json | undefined): string | undefined {
  const { type, url, media_type: mediaType } = objectOf(source)
  return type === 'url' ? dataType(url) : stringOf(mediaType)?.toLowerCase()
}

function readToolResult(content: Json | undefined, place: string, measure: Measure): void {
  if (!isArray(content)) return measure.json(content)
  for (const [index, block] of content.entries()) {
    if (isObject(block) && block['type'] === 'text') {
      measure.item()
      measure.json(block['text'])
      readCitations(block, measure)
      measure.cacheMarks(block, `${place}[${index}]`, CACHE_MARKS)
    } else readBlock(block, `${place}[${index}]`, measure)
  }
}

/** Cited text is not read again, but each citation is framed by its source. */
function readCitations({ citations }: JsonObject, measure: Measure): void {
  listOf(citations).forEach(() => measure.item())
}

const CACHE_MARKS = ['cache_control']

function readUnknown(value: Json | undefined, place: string, measure: Measure): void {
  refuseAccountFiles(value, place)
  readDeeply(value, place, measure)
}

/** Looks at any depth for URLs and cache marks, which count, and for hosted tools, which are refused. */
function readDeeply(value: Json | undefined, place: string, measure: Measure): void {
  if (isArray(value)) value.forEach((each, at) => readDeeply(each, `${place}[${at}]`, measure))
  if (!isObject(value)) return
  if (value['type'] === 'tool_definition' && isHosted(value['definition'])) {
    const tool = `${place}.definition`
    throw unsupportedParameter(
      tool,
      `${tool} is not supported: the provider runs it, so it belongs in tools`,
    )
  }
  if (value['type'] === 'url') measure.fetched()
  measure.cacheMarks(value, place, CACHE_MARKS)
  for (const [name, each] of Object.entries(value)) readDeeply(each, `${place}.${name}`, measure)
}

export function affinityOf({ system, messages, metadata }: JsonObject): string {
  const isLasting = (block: Json): boolean =>
    !isBillingLine(stringOf(objectOf(block)['text']) ?? '')
  const instructions = isArray(system) ? system.filter(isLasting) : system
  return affinityBy(sessionOf(stringOf(objectOf(metadata)['user_id'])), instructions, messages)
}

/** Claude Code writes its session into the user id, as JSON. */
export function sessionOf(userId: string | undefined): string | undefined {
  if (userId === undefined || !userId.startsWith('{')) return undefined
  if (userId.length > USER_ID_CHARACTERS_MAX) return undefined
  return stringOf(parseObject(userId)?.['session_id'])
}

/** Claude Code's own has about 200. */
const USER_ID_CHARACTERS_MAX = 2_000

/** Claude Code's first system block changes with every request and means nothing to other providers. */
export function isBillingLine(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header:')
}

/** Clients that do not ask for reasoning take the first block of an answer for its text. */
export function asksToSeeReasoning({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking['type'] !== 'disabled'
}

export function withoutReasoning(body: JsonObject): Removals | undefined {
  return removing(body, isReasoning)
}

/** What another format's provider left as a fallback: one of this format would refuse its signatures. */
export function withoutForeignReasoning(body: JsonObject): Removals | undefined {
  return removing(body, isForeignReasoning)
}

function removing(body: JsonObject, isGone: (block: JsonObject) => boolean): Removals | undefined {
  const messages = changedEntries(body['messages'], (message) => {
    const { content } = message
    if (!isArray(content)) return message
    const left = content.filter((block) => !(isObject(block) && isGone(block)))
    if (left.length === content.length) return message
    return left.length === 0 ? undefined : { ...message, content: left }
  })
  if (messages === undefined) return undefined
  const dropped = ['messages.content.thinking']
  const isBudgeted = objectOf(body['thinking'])['type'] === 'enabled'
  if (!isBudgeted || !goesOnUnreasoned(messages)) return { changes: { messages }, dropped }
  return { changes: { messages, thinking: undefined }, dropped: [...dropped, 'thinking'] }
}

function isReasoning({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function isForeignReasoning(block: JsonObject): boolean {
  return isReasoning(block) && (isPacked(block['signature']) || isPacked(block['data']))
}

/**
 * Whether the model must continue a turn of its own, after tool results or from given first words, that does not begin
 * with reasoning. Providers refuse this together with a reasoning budget.
 */
export function goesOnUnreasoned(messages: readonly Json[]): boolean {
  const opening = messages.findLastIndex((message) => isObject(message) && !isOfModelsTurn(message))
  const [first] = messages.slice(opening + 1)
  if (!isObject(first)) return false
  const [block] = listOf(first['content'])
  return !isObject(block) || !isReasoning(block)
}

function isOfModelsTurn({ role, content }: JsonObject): boolean {
  if (role === 'assistant') return true
  return (
    isArray(content) && content.some((block) => isObject(block) && block['type'] === 'tool_result')
  )
}
