// What admission must know about a responses request. One walk over the parsed body counts everything a model could
// read, known or not, and refuses only what may be sent to no provider.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, isObject, listOf, objectOf, typeOf } from '../../core/json.ts'
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
  PRICE,
  refuseAccountFiles,
  refuseFields,
  refuseLongLists,
  streamOf,
} from '../contract/fields.ts'
import { Measure } from '../contract/measure.ts'
import { itemType, MESSAGE, RESPONSES_FIELDS } from './fields.ts'
import { isVendorTool, searchesMaxOf, usableTools } from './tools.ts'

export function readCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  const stream = streamOf(body)
  refuseFields(body, RESPONSES_FIELDS)
  refuseLongLists(body)
  readPrompt(body, measure)
  const { tools, dropped } = usableTools(body)
  const everywhere = [...compactionIn(body), ...usableCaching(body).dropped]
  const searchesMax = searchesMaxOf(body)
  for (const tool of tools) readTool(tool, measure)
  readSettings(body, measure)
  const { effort } = objectOf(body['reasoning'])
  return defined({
    model,
    stream,
    input: measure.sum,
    output: defined({
      tokensMax: countOf(body, 'max_output_tokens', 1),
      choices: 1,
      reasons: typeof effort === 'string' && effort !== 'none',
    }),
    needs: [...measure.needs],
    dropped: [...dropped, ...everywhere],
    droppedInPassthrough: measure.hasForeignReasoning ? ['input.reasoning'] : undefined,
    search:
      searchesMax === 0
        ? undefined
        : {
            searchesMax,
            dropped: [...usableTools(body, { maySearch: true }).dropped, ...everywhere],
          },
    endUser: endUserOf(body),
    metadata: labelsOf(body['metadata']),
  })
}

function readPrompt({ instructions, input }: JsonObject, measure: Measure): void {
  measure.text(instructions)
  if (typeof input === 'string') {
    measure.item()
    return measure.text(input)
  }
  if (!isArray(input) || input.length === 0) {
    throw invalidRequest('input', 'input must be a string or a list of at least one item')
  }
  for (const [index, item] of input.entries()) {
    measure.item()
    if (isObject(item)) readItem(item, `input[${index}]`, measure)
    else measure.json(item)
  }
}

function readItem(item: JsonObject, place: string, measure: Measure): void {
  switch (itemType(item)) {
    case 'message':
      measure.role(item['role'])
      measure.unknownFields(item, MESSAGE)
      return readContent(item['content'], `${place}.content`, measure)
    case 'function_call':
    case 'custom_tool_call':
      measure.text(item['call_id'])
      measure.text(item['name'])
      return measure.json(item[itemType(item) === 'function_call' ? 'arguments' : 'input'])
    case 'function_call_output':
    case 'custom_tool_call_output':
      measure.text(item['call_id'])
      return readOutput(item['output'], `${place}.output`, measure)
    case 'reasoning':
      measure.hasForeignReasoning ||= isUnreadable(item)
      // Encryption makes reasoning longer, so the encrypted text bounds what the model reads.
      measure.opaque(item['encrypted_content'])
      measure.text(item['summary'])
      return measure.text(item['content'])
    case 'additional_tools':
      for (const tool of listOf(item['tools'])) readTool(tool, measure)
      return
    case 'item_reference':
      throw unsupportedParameter(
        place,
        `${place} refers to an item that is not stored here; send the item itself`,
      )
    default:
      refuseWhatIsThere(item, place)
      // Screenshots, programs, compacted turns: counted as text, but nothing bounds what they stand for.
      measure.json(item)
      return measure.unbounded()
  }
}

/** Refuses files kept at the provider, and an image made there that comes back by its id alone. */
function refuseWhatIsThere(item: JsonObject, place: string): void {
  refuseAccountFiles(item, place)
  if (typeOf(item) !== 'image_generation_call' || isGiven(item['result'])) return
  throw unsupportedParameter(
    `${place}.id`,
    `${place}.id is not supported: it refers to an image in a provider account that all keys share; send the image itself`,
  )
}

function readContent(content: Json | undefined, place: string, measure: Measure): void {
  if (!isArray(content)) return measure.text(content)
  for (const [index, part] of content.entries()) {
    measure.item()
    if (isObject(part)) readPart(part, `${place}[${index}]`, measure)
    else measure.json(part)
  }
}

/** A tool's output counts as JSON even when it is text: providers serialize it again. */
function readOutput(output: Json | undefined, place: string, measure: Measure): void {
  if (!isArray(output)) return measure.json(output)
  for (const [index, part] of output.entries()) {
    const at = `${place}[${index}]`
    measure.item()
    if (isObject(part) && part['type'] !== 'input_text') {
      readPart(part, at, measure)
      continue
    }
    measure.json(part)
    measure.cacheMarks(objectOf(part), at, CACHE_MARKS)
  }
}

function readPart(part: JsonObject, place: string, measure: Measure): void {
  refuseAccountFiles(part, place)
  measure.cacheMarks(part, place, CACHE_MARKS)
  switch (typeOf(part)) {
    case 'input_text':
    case 'output_text':
      return measure.text(part['text'])
    case 'refusal':
      return measure.text(part['refusal'])
    case 'input_image':
      return measure.image(dataType(part['image_url']))
    case 'input_file':
      return measure.file(dataType(part['file_url'] ?? part['file_data']))
    default:
      measure.json(part)
      return measure.audio()
  }
}

const CACHE_MARKS = ['prompt_cache_breakpoint']

function readTool(tool: Json, measure: Measure): void {
  measure.tool(tool, { known: isVendorTool(tool) ? 1 : 0 })
}

function readSettings(body: JsonObject, measure: Measure): void {
  const { text, store, reasoning, prompt_cache_retention } = body
  if ((objectOf(reasoning)['mode'] ?? 'standard') !== 'standard') {
    throw unsupportedParameter('reasoning.mode', `reasoning.mode is not supported: ${PRICE}`)
  }
  const { options } = usableCaching(body)
  measure.cacheSettings({ prompt_cache_options: options, prompt_cache_retention })
  const { format } = objectOf(text)
  measure.json(format)
  if (objectOf(format)['type'] === 'json_schema') measure.needs.add('structured_output')
  if (isGiven(store) && typeof store !== 'boolean') {
    throw invalidRequest('store', 'store must be true or false')
  }
  measure.unknownFields(body, RESPONSES_FIELDS)
}

/** The options without the response that a provider should compare its cache with: it knows no ids of this gateway. */
export function usableCaching({ prompt_cache_options: options }: JsonObject) {
  if (!isObject(options) || !isGiven(options['comparison_response_id'])) {
    return { options, dropped: [] }
  }
  const { comparison_response_id: _, ...rest } = options
  return {
    options: Object.keys(rest).length === 0 ? undefined : rest,
    dropped: ['prompt_cache_options.comparison_response_id'],
  }
}

export function affinityOf(body: JsonObject): string {
  return affinityBy(body['prompt_cache_key'], body['instructions'], body['input'])
}

/** The input without reasoning that a provider that stores nothing cannot read; the same list if there is none. */
export function readableInput(input: Json | undefined): Json | undefined {
  return without(input, isUnreadable) ?? input
}

export function withoutReasoning(body: JsonObject): Removals | undefined {
  const input = without(body['input'], isReasoning)
  return input && { changes: { input }, dropped: ['input.reasoning'] }
}

function without(input: Json | undefined, isGone: (item: JsonObject) => boolean) {
  let isOrphaned = false
  return changedEntries(input, (item) => {
    if (isGone(item)) {
      isOrphaned = true
      return undefined
    }
    isOrphaned &&= isAssistants(item)
    if (!isOrphaned || item['id'] === undefined) return item
    const { id: _, ...rest } = item
    return rest
  })
}

/** Whether this is reasoning that a provider that stores nothing cannot read. */
function isUnreadable(item: JsonObject): boolean {
  const { encrypted_content: encrypted } = item
  return isReasoning(item) && (typeof encrypted !== 'string' || isPacked(encrypted))
}

function isReasoning({ type }: JsonObject): boolean {
  return type === 'reasoning'
}

function isAssistants(item: JsonObject): boolean {
  switch (itemType(item)) {
    case 'message':
      return item['role'] === 'assistant'
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
      return true
    default:
      return false
  }
}
