// One walk over a messages request: how much the model will read, and which abilities it needs. Refuses references to
// files in the provider account, which all keys share, and hosted tools defined inside messages.
import type { InputMeasure } from '../../core/call.ts'
import type { Ability } from '../../core/endpoints.ts'
import { unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf, stringOf, typeOf } from '../../core/json.ts'
import { refuseAccountFiles } from '../account-files.ts'
import { lifetimeOf } from '../cache-lifetime.ts'
import type { Measure } from '../measure.ts'
import { dataType } from '../media.ts'
import { isPacked } from '../seal.ts'
import { MESSAGES_FIELDS } from './fields.ts'
import { isHosted, vendorToolsIn } from './search.ts'
import { MESSAGE } from './shape.ts'

type MeasuredInput = {
  readonly measure: InputMeasure
  readonly needs: readonly Ability[]
  /** Whether any block carries thoughts of another format, sealed or not. */
  readonly hasForeignThoughts: boolean
}

/**
 * `changes`: what is removed from every request, searches included. Cache marks on removed tools still count, because
 * searches may stay.
 */
export function measureInput(
  given: JsonObject,
  changes: JsonObject,
  measure: Measure,
): MeasuredInput {
  const walk: Walk = { measure, needs: new Set(), hasForeignThoughts: false }
  const body = { ...given, ...changes }
  readCacheMark(body, '', walk)
  readContent(body['system'], 'system', walk)
  for (const [index, message] of listOf(body['messages']).entries()) {
    measure.item()
    if (!isObject(message)) {
      measure.json(message)
      continue
    }
    measure.role(message['role'])
    measure.unknownFields(message, MESSAGE)
    readContent(message['content'], `messages[${index}].content`, walk)
  }
  for (const tool of listOf(body['tools'])) {
    measure.tool(tool, { known: isObject(tool) ? vendorToolsIn(tool) : 0 })
    walk.needs.add('tools')
  }
  for (const [index, tool] of listOf(given['tools']).entries()) {
    if (isObject(tool)) readCacheMark(tool, `tools[${index}].`, walk)
  }
  readOutputFormat(body, walk)
  measure.unknownFields(body, MESSAGES_FIELDS)
  const { hasForeignThoughts } = walk
  return { measure: measure.sum, needs: [...walk.needs], hasForeignThoughts }
}

type Walk = {
  readonly measure: Measure
  readonly needs: Set<Ability>
  hasForeignThoughts: boolean
}

function readOutputFormat({ output_config, output_format }: JsonObject, walk: Walk): void {
  const format = (isObject(output_config) ? output_config['format'] : undefined) ?? output_format
  walk.measure.json(format)
  if (isObject(format)) walk.needs.add('structured_output')
}

function readContent(content: Json | undefined, place: string, walk: Walk): void {
  if (!isArray(content)) return walk.measure.text(content)
  content.forEach((block, index) => readBlock(block, `${place}[${index}]`, walk))
}

function readBlock(block: Json, place: string, walk: Walk): void {
  const { measure, needs } = walk
  measure.item()
  if (!isObject(block)) return measure.json(block)
  readCacheMark(block, `${place}.`, walk)
  switch (typeOf(block)) {
    case 'text':
      readCitations(block, walk)
      return measure.text(block['text'])
    case 'image':
      readUnknown(block['source'], `${place}.source`, walk)
      needs.add('images')
      return measure.image(sourceType(block['source']))
    case 'document':
      return readDocument(block, place, walk)
    case 'thinking':
      walk.hasForeignThoughts ||= isPacked(block['signature'])
      measure.text(block['thinking'])
      // The signature contains the whole thought in sealed form, even when the text is short or omitted.
      return measure.sealed(block['signature'])
    case 'redacted_thinking':
      walk.hasForeignThoughts ||= isPacked(block['data'])
      return measure.sealed(block['data'])
    case 'tool_use':
      return measure.json(block)
    case 'tool_result':
      measure.text(block['tool_use_id'])
      return readToolResult(block['content'], `${place}.content`, walk)
    case 'search_result':
      measure.text(block['source'])
      measure.text(block['title'])
      return readContent(block['content'], `${place}.content`, walk)
    default:
      readUnknown(block, place, walk)
      measure.json(block)
      return measure.unbounded()
  }
}

function readDocument(block: JsonObject, place: string, walk: Walk): void {
  const { measure, needs } = walk
  const { source, title, context } = block
  readUnknown(source, `${place}.source`, walk)
  measure.text(title)
  measure.text(context)
  if (isObject(source) && source['type'] === 'text') return measure.text(source['data'])
  if (isObject(source) && source['type'] === 'content') {
    return readContent(source['content'], `${place}.source.content`, walk)
  }
  needs.add('files')
  measure.file(sourceType(source))
}

/** The media type that a source declares; undefined for an http URL, which declares none. */
function sourceType(source: Json | undefined): string | undefined {
  const { type, url, media_type: mediaType } = objectOf(source)
  return type === 'url' ? dataType(url) : stringOf(mediaType)?.toLowerCase()
}

function readToolResult(content: Json | undefined, place: string, walk: Walk): void {
  if (!isArray(content)) return walk.measure.json(content)
  for (const [index, block] of content.entries()) {
    if (isObject(block) && block['type'] === 'text') {
      walk.measure.item()
      walk.measure.json(block['text'])
      readCitations(block, walk)
      readCacheMark(block, `${place}[${index}].`, walk)
    } else readBlock(block, `${place}[${index}]`, walk)
  }
}

/** Cited text is not read again, but each citation is framed by its source. */
function readCitations({ citations }: JsonObject, { measure }: Walk): void {
  listOf(citations).forEach(() => measure.item())
}

/** `prefix` is the holder's place with its dot; '' for the body itself. */
function readCacheMark(holder: JsonObject, prefix: string, { measure }: Walk): void {
  const mark = holder['cache_control']
  if (!isObject(mark)) return
  measure.cacheWrite(lifetimeOf(mark['ttl'], `${prefix}cache_control.ttl`))
}

function readUnknown(value: Json | undefined, place: string, walk: Walk): void {
  refuseAccountFiles(value, place)
  readDeeply(value, place, walk)
}

/** Looks at any depth for URLs and cache marks, which count, and for hosted tools, which are refused. */
function readDeeply(value: Json | undefined, place: string, walk: Walk): void {
  if (isArray(value)) value.forEach((each, index) => readDeeply(each, `${place}[${index}]`, walk))
  if (!isObject(value)) return
  if (value['type'] === 'tool_definition' && isHosted(value['definition'])) {
    const tool = `${place}.definition`
    throw unsupportedParameter(
      tool,
      `${tool} is not supported: the provider runs it, so it belongs in tools`,
    )
  }
  if (value['type'] === 'url') walk.measure.fetched()
  readCacheMark(value, `${place}.`, walk)
  for (const [name, member] of Object.entries(value)) readDeeply(member, `${place}.${name}`, walk)
}
