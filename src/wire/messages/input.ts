// One walk over a messages request: how much the model will read, and what it must be able to read. Refuses what names
// a file in the provider account, because all keys share that account.
import type { InputMeasure } from '../../core/call.ts'
import type { Ability } from '../../core/endpoints.ts'
import { unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject } from '../../core/json.ts'
import { InputTally } from '../tally.ts'

export type MeasuredInput = { readonly measure: InputMeasure; readonly needs: readonly Ability[] }

export function measureInput(body: JsonObject): MeasuredInput {
  const walk: Walk = { tally: new InputTally(), needs: new Set() }
  countCacheMark(walk, body, '')
  countContent(walk, body['system'], 'system')
  for (const [index, message] of listOf(body['messages']).entries()) {
    walk.tally.item()
    if (isObject(message)) countContent(walk, message['content'], `messages[${index}].content`)
  }
  for (const [index, tool] of listOf(body['tools']).entries()) {
    walk.tally.item()
    walk.tally.json(tool)
    walk.needs.add('tools')
    if (isObject(tool)) countCacheMark(walk, tool, `tools[${index}]`)
  }
  const schema = formatOf(body)
  if (schema !== undefined) {
    walk.tally.json(schema)
    walk.needs.add('structured_output')
  }
  return { measure: walk.tally.measure, needs: [...walk.needs] }
}

type Walk = { readonly tally: InputTally; readonly needs: Set<Ability> }

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}

function formatOf(body: JsonObject): Json | undefined {
  const { output_config: config, output_format: beta } = body
  return (isObject(config) ? config['format'] : undefined) ?? beta ?? undefined
}

function countContent(walk: Walk, content: Json | undefined, path: string): void {
  if (typeof content === 'string') walk.tally.text(content)
  for (const [index, block] of listOf(content).entries()) {
    if (isObject(block)) countBlock(walk, block, `${path}[${index}]`)
  }
}

function countBlock(walk: Walk, block: JsonObject, path: string): void {
  const { tally } = walk
  tally.item()
  countCacheMark(walk, block, path)
  switch (String(block['type'])) {
    case 'text':
      return countText(walk, block['text'])
    case 'image':
      refuseFile(block['source'], path)
      walk.needs.add('images')
      return tally.image()
    case 'document':
      return countDocument(walk, block, path)
    case 'thinking':
      countText(walk, block['thinking'])
      // The signature is the whole thought in a sealed form, also where the text is short or left out.
      return countText(walk, block['signature'])
    case 'redacted_thinking':
      return countText(walk, block['data'])
    case 'tool_use':
      return tally.json(block)
    case 'tool_result':
      return countToolResult(walk, block['content'], `${path}.content`)
    case 'search_result':
      tally.json(block['source'])
      tally.json(block['title'])
      return countContent(walk, block['content'], `${path}.content`)
    default:
      refuseFile(block, path)
      tally.json(block)
      return tally.unbounded()
  }
}

function countText(walk: Walk, text: Json | undefined): void {
  if (typeof text === 'string') walk.tally.text(text)
}

function countDocument(walk: Walk, block: JsonObject, path: string): void {
  const { source } = block
  refuseFile(source, path)
  countText(walk, block['title'])
  countText(walk, block['context'])
  const type = isObject(source) ? source['type'] : undefined
  if (isObject(source) && type === 'text') return countText(walk, source['data'])
  if (isObject(source) && type === 'content') {
    return countContent(walk, source['content'], `${path}.source.content`)
  }
  walk.needs.add('files')
  walk.tally.unbounded()
}

function countToolResult(walk: Walk, content: Json | undefined, path: string): void {
  if (typeof content === 'string') walk.tally.jsonText(content)
  for (const [index, block] of listOf(content).entries()) {
    if (!isObject(block)) continue
    if (block['type'] === 'text' && typeof block['text'] === 'string') {
      walk.tally.jsonText(block['text'])
      countCacheMark(walk, block, `${path}[${index}]`)
    } else countBlock(walk, block, `${path}[${index}]`)
  }
}

function countCacheMark(walk: Walk, holder: JsonObject, path: string): void {
  const mark = holder['cache_control']
  if (!isObject(mark)) return
  const ttl = mark['ttl'] ?? '5m'
  if (ttl !== '5m' && ttl !== '1h') {
    const place = `${path === '' ? '' : `${path}.`}cache_control.ttl`
    throw unsupportedParameter(place, `${place} can be 5m or 1h: no other lifetime has a price`)
  }
  walk.tally.cacheWrite(ttl === '1h' ? 'long' : 'short')
}

/** Files uploaded to the provider account could be any key's. */
function refuseFile(value: Json | undefined, path: string): void {
  if (!namesFile(value)) return
  throw unsupportedParameter(
    `${path}.file_id`,
    `${path} names a file by its id, which this gateway cannot pass on: send the content itself`,
  )
}

function namesFile(value: Json | undefined): boolean {
  if (isArray(value)) return value.some(namesFile)
  if (!isObject(value)) return false
  return 'file_id' in value || Object.values(value).some(namesFile)
}
