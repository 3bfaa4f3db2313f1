// What admission must know about a chat completions request. One walk over the parsed body counts everything a model
// could read, known or not, and refuses only what may be sent to no provider.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf, objectOf, typeOf } from '../../core/json.ts'
import type { Call } from '../../core/request.ts'
import { affinityBy, cacheMarkReader, readCacheSettings } from '../content/caching.ts'
import { dataType } from '../content/media.ts'
import {
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
import { hasForeignThoughts, withoutForeignThoughts } from './reasoning.ts'
import { usableTools } from './tools.ts'

export function readCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  const stream = streamOf(body)
  refuseFields(body, CHAT_FIELDS)
  refuseLongLists(body)
  const walk: Walk = { measure, hasForeignThoughts: false }
  readMessages(body, walk)
  const { tools, dropped } = usableTools(body)
  readTools(tools, 'tools', measure)
  refuseNameless(body['functions'])
  readTools(body['functions'], 'functions', measure)
  readFormat(body['response_format'], measure)
  readCacheMark(body, '', measure)
  readCacheSettings(body, measure)
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
    output: { ...(tokensMax && { tokensMax }), choices, thinks: effort !== 'none' },
    needs: [...measure.needs],
    dropped: [...dropped, ...compactionIn(body)],
    ...(walk.hasForeignThoughts && {
      droppedAtHome: withoutForeignThoughts(body)?.dropped ?? [],
    }),
    ...(endUser !== undefined && { endUser }),
    ...(metadata && { metadata }),
  }
}

type Walk = {
  readonly measure: Measure
  /** Whether any message carries thoughts sealed by another format. */
  hasForeignThoughts: boolean
}

function readMessages(body: JsonObject, walk: Walk): void {
  const messages = body['messages']
  if (!isArray(messages)) throw invalidRequest('messages', 'messages must be a list of messages')
  messages.forEach((message, index) => readMessage(message, `messages[${index}]`, walk))
}

function readMessage(message: Json, place: string, walk: Walk): void {
  const { measure } = walk
  measure.item()
  if (!isObject(message)) return measure.json(message)
  walk.hasForeignThoughts ||= hasForeignThoughts(message)
  readCacheMark(message, place, measure)
  const isResult = message['role'] === 'tool' || message['role'] === 'function'
  for (const [name, value] of Object.entries(message)) {
    if (name === 'role') measure.role(value)
    else if (name === 'content') readContent(value, `${place}.content`, { ...walk, isResult })
    else if (name === 'tool_calls' && isArray(value)) readItems(value, `${place}.${name}`, measure)
    else if (name === 'audio' && isObject(value)) refuseAudioId(`${place}.audio`)
    else measure.text(value)
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
    readCacheMark(value, at, measure)
    readCacheMark(objectOf(value['function']), `${at}.function`, measure)
  }
}

type ContentWalk = Walk & { readonly isResult: boolean }

function readContent(content: Json | undefined, place: string, walk: ContentWalk): void {
  if (isArray(content)) {
    content.forEach((part, index) => readPart(part, `${place}[${index}]`, walk))
  } else if (walk.isResult) walk.measure.json(content)
  else walk.measure.text(content)
}

function readPart(part: Json, place: string, { measure, isResult }: ContentWalk): void {
  measure.item()
  if (!isObject(part)) return measure.text(part)
  refuseAccountFiles(part, place)
  readCacheMark(part, place, measure)
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
const readCacheMark = cacheMarkReader('prompt_cache_breakpoint', 'cache_control')

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
