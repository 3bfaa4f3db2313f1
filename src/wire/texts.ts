// Everything a model reads of a request body as text, whatever the format, for counting it with a tokenizer. Images and
// files are not text: they are measured by what they are (`measure.ts`).
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject } from '../core/json.ts'

/** Members that carry no words for the model: names of things, switches, and bytes in disguise. */
const SILENT = new Set([
  'model',
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'status',
  'data',
  'file_data',
  'image_url',
  'url',
  'media_type',
  'detail',
  'signature',
  'encrypted_content',
  'cache_control',
  'metadata',
  'stream_options',
])
/** Members that are read as the JSON they are, names and all. */
const SPELLED = new Set([
  'tools',
  'functions',
  'response_format',
  'text',
  'output_config',
  'input_schema',
])

export function textsOf(body: JsonObject): string[] {
  const texts: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (SPELLED.has(name) && (isObject(value) || isArray(value))) texts.push(JSON.stringify(value))
    else collect(name, value, texts)
  }
  return texts
}

function collect(name: string, value: Json | undefined, texts: string[]): void {
  if (SILENT.has(name)) return
  if (typeof value === 'string') texts.push(value)
  else if (isArray(value)) for (const one of value) collect('', one, texts)
  else if (isObject(value)) {
    // What a model was given or wrote as JSON, a tool's input, is read with its names.
    if (name === 'input') texts.push(JSON.stringify(value))
    else for (const [inner, one] of Object.entries(value)) collect(inner, one, texts)
  }
}
