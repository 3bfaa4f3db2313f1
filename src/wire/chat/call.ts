// What admission must know about a chat completions request, and what is removed from it. One walk over the parsed body
// counts everything a model could read, known or not, and refuses only what may be sent to no provider.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf, objectOf, typeOf } from '../../core/json.ts'
import type { Call } from '../../core/request.ts'
import { dataType } from '../content/media.ts'
import { changedEntries, isPacked } from '../content/opaque-reasoning.ts'
import type { Removals } from '../contract/codec.ts'
import {
  affinityBy,
  compactionIn,
  countOf,
  endUserOf,
  labelsOf,
  modelOf,
  refuseAccountFiles,
  refuseFields,
  refuseLongLists,
  streamOf,
} from '../contract/fields.ts'
import { Measure } from '../contract/measure.ts'
import { CHAT_FIELDS } from './fields.ts'
import { isHosted } from './tools.ts'

export function readCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  const stream = streamOf(body)
  refuseFields(body, CHAT_FIELDS)
  refuseLongLists(body)
  readMessages(body, measure)
  const { changes, dropped } = removalsFrom(body)
  readTools('tools' in changes ? changes['tools'] : body['tools'], 'tools', measure)
  refuseNameless(body['functions'])
  readTools(body['functions'], 'functions', measure)
  readFormat(body['response_format'], measure)
  measure.cacheMarks(body, '', CACHE_MARKS)
  measure.cacheSettings(body)
  measure.unknownFields(body, CHAT_FIELDS)
  const tokensMax = countOf(body, 'max_completion_tokens', 1) ?? countOf(body, 'max_tokens', 1)
  const choices = countOf(body, 'n', 1) ?? 1
  const effort = body['reasoning_effort'] ?? 'none'
  const endUser = endUserOf(body)
  const metadata = labelsOf(body['metadata'])
  return {
    model,
    stream,
    input: measure.sum,
    output: { ...(tokensMax && { tokensMax }), choices, reasons: effort !== 'none' },
    needs: [...measure.needs],
    dropped,
    ...(measure.hasForeignReasoning && {
      droppedInPassthrough: withoutForeignReasoning(body)?.dropped ?? [],
    }),
    ...(endUser !== undefined && { endUser }),
    ...(metadata && { metadata }),
  }
}

/** Removed from every request: compaction, and tools that the provider runs, at a price in the shared account. */
export function removalsFrom(body: JsonObject): Removals {
  const { tools, tool_choice: choice, web_search_options: search } = body
  if (!isGiven(tools) && !isGiven(search)) {
    return { changes: WITHOUT_COMPACTION, dropped: compactionIn(body) }
  }
  const given = listOf(tools)
  const kept = given.filter((tool) => !isHosted(tool))
  const dropped = given
    .filter(isHosted)
    .map((tool) => `tools.${typeOf(tool) || (Object.keys(tool)[0] ?? 'unknown')}`)
  const isLastGone = kept.length === 0 && dropped.length > 0
  if (isGiven(choice) && isLastGone) dropped.push('tool_choice')
  if (isGiven(search)) dropped.push('web_search_options')
  const changes: JsonObject = {
    ...WITHOUT_COMPACTION,
    ...(dropped.length > 0 && {
      web_search_options: undefined,
      tools: kept.length === 0 ? undefined : kept,
    }),
    ...(isLastGone && { tool_choice: undefined, parallel_tool_calls: undefined }),
  }
  return { changes, dropped: [...dropped, ...compactionIn(body)] }
}

const WITHOUT_COMPACTION: JsonObject = { context_management: undefined }

function readMessages({ messages }: JsonObject, measure: Measure): void {
  if (!isArray(messages)) throw invalidRequest('messages', 'messages must be a list of messages')
  messages.forEach((message, index) => readMessage(message, `messages[${index}]`, measure))
}

function readMessage(message: Json, place: string, measure: Measure): void {
  measure.item()
  if (!isObject(message)) return measure.json(message)
  measure.cacheMarks(message, place, CACHE_MARKS)
  for (const name of Object.keys(message)) {
    const value = message[name]
    if (name === 'role') measure.role(value)
    else if (name === 'content') readContent(message, place, measure)
    else if (name === 'tool_calls' && isArray(value)) readItems(value, `${place}.${name}`, measure)
    else if (name === 'audio' && isObject(value)) refuseAudioId(`${place}.audio`)
    else measure.text(value)
    if (name === 'reasoning_details') measure.hasForeignReasoning ||= hasForeignReasoning(message)
  }
}

function refuseAudioId(place: string): never {
  throw unsupportedParameter(
    place,
    `${place} is not supported: it refers to an answer in a provider account that all keys share`,
  )
}

/** Tools, or calls of them. */
function readItems(values: readonly Json[], place: string, measure: Measure): void {
  for (const [index, value] of values.entries()) {
    measure.item()
    measure.json(value)
    if (!isObject(value)) continue
    const at = `${place}[${index}]`
    measure.cacheMarks(value, at, CACHE_MARKS)
    measure.cacheMarks(objectOf(value['function']), `${at}.function`, CACHE_MARKS)
  }
}

function readContent({ role, content }: JsonObject, place: string, measure: Measure): void {
  const isResult = role === 'tool' || role === 'function'
  if (isArray(content)) {
    const walk = { measure, isResult }
    content.forEach((part, index) => readPart(part, `${place}.content[${index}]`, walk))
  } else if (isResult) measure.json(content)
  else measure.text(content)
}

type ContentWalk = { readonly measure: Measure; readonly isResult: boolean }

function readPart(part: Json, place: string, { measure, isResult }: ContentWalk): void {
  measure.item()
  if (!isObject(part)) return measure.text(part)
  refuseAccountFiles(part, place)
  measure.cacheMarks(part, place, CACHE_MARKS)
  switch (typeOf(part)) {
    case 'text':
      return isResult ? measure.json(part['text']) : measure.text(part['text'])
    case 'refusal':
      return measure.text(part['refusal'])
    case 'image_url':
      return measure.image(dataType(urlOf(part['image_url'])))
    case 'file':
      return measure.file(dataType(objectOf(part['file'])['file_data']))
    default:
      measure.json(part)
      return measure.audio()
  }
}

/** Some servers accept the bare URL instead of the object around it. */
function urlOf(image: Json | undefined): Json | undefined {
  return isObject(image) ? image['url'] : image
}

/** Both spellings: the format's own, and the one that clients of other gateways use, which may appear anywhere. */
const CACHE_MARKS = ['prompt_cache_breakpoint', 'cache_control']

function readTools(tools: Json | undefined, place: string, measure: Measure): void {
  if (!isArray(tools) || tools.length === 0) return
  measure.needs.add('tools')
  readItems(tools, place, measure)
}

/** An entry without a name may be one of the provider's own tools, which the provider would run. */
function refuseNameless(functions: Json | undefined): void {
  for (const [index, entry] of listOf(functions).entries()) {
    if (!isObject(entry) || isGiven(entry['name'])) continue
    const place = `functions[${index}].name`
    throw invalidRequest(place, `${place} must be the name of the function`)
  }
}

function readFormat(format: Json | undefined, measure: Measure): void {
  measure.json(format)
  if (objectOf(format)['type'] === 'json_schema') measure.needs.add('structured_output')
}

export function affinityOf(body: JsonObject): string {
  return affinityBy(body['prompt_cache_key'], undefined, body['messages'])
}

export function withoutReasoning({ messages }: JsonObject): Removals | undefined {
  return removals(changedEntries(messages, forgetful))
}

/** Removes what a provider of another format left while it served as a fallback: no provider here can read it. */
export function withoutForeignReasoning({ messages }: JsonObject): Removals | undefined {
  const hasAny = listOf(messages).some((one) => isObject(one) && hasForeignReasoning(one))
  if (!hasAny) return undefined
  return removals(changedEntries(messages, withOwnDetails))
}

function removals(messages: readonly Json[] | undefined): Removals | undefined {
  return messages && { changes: { messages }, dropped: ['messages.reasoning_details'] }
}

function hasForeignReasoning({ reasoning_details: details }: JsonObject): boolean {
  return isArray(details) && details.some(isForeign)
}

/** The members of a message in which compatible servers carry reasoning. */
export const REASONING_MEMBERS: readonly string[] = [
  'reasoning_details',
  'reasoning_content',
  'reasoning',
]

function forgetful(message: JsonObject): JsonObject {
  if (!REASONING_MEMBERS.some((name) => isGiven(message[name]))) return message
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => !REASONING_MEMBERS.includes(name)),
  )
}

function withOwnDetails(message: JsonObject): JsonObject {
  if (!hasForeignReasoning(message)) return message
  const { reasoning_details: details, ...rest } = message
  const own = listOf(details).filter((detail) => !isForeign(detail))
  return own.length === 0 ? rest : { ...rest, reasoning_details: own }
}

function isForeign(detail: Json): boolean {
  return isObject(detail) && (isPacked(detail['signature']) || isPacked(detail['data']))
}
