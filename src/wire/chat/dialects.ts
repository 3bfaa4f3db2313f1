// Servers that speak OpenAI's formats but differ from OpenAI. A dialect says which members of a body such a server is
// sent otherwise, and what it is not sent at all; the provider chooses it, and it is applied while a body is written.
import { createHash } from 'node:crypto'
import type { UpstreamFormat } from '../../core/endpoints.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf, objectOf } from '../../core/json.ts'
import { lateInstruction } from '../content/turns.ts'
import { saysSomething } from '../contract/fields.ts'
import { REASONING_MEMBERS } from './call.ts'

/**
 * `openai` = as OpenAI itself; `original` = the names and roles that every server knows, however far it follows OpenAI;
 * `mistral` = that, and nothing else: it refuses what it does not know; `openrouter` = it has files read.
 */
export type Dialect = 'openai' | 'original' | 'mistral' | 'openrouter'

type Spoken = {
  readonly dialect: Dialect
  readonly format: UpstreamFormat
  /** Whether the model reads files itself. */
  readonly readsFiles?: boolean
}

/** The members of `body` that the server is sent otherwise; undefined = it is not sent this one. */
export function inDialect(body: JsonObject, spoken: Spoken): JsonObject {
  const { dialect, format } = spoken
  switch (dialect) {
    case 'openai':
      return {}
    case 'original':
      return format === 'chat' ? inOriginalWords(body) : {}
    case 'mistral': {
      const words = format === 'chat' ? inOriginalWords(body) : {}
      return { ...words, ...withoutUnknown({ ...body, ...words }, format) }
    }
    case 'openrouter':
      return withFreeParser(body, spoken.readsFiles === true)
  }
}

/** What the server is not sent, by the format's names. */
export function leftOutIn(body: JsonObject, { dialect, format }: Spoken): readonly string[] {
  return dialect === 'mistral' ? unknownIn(body, format) : []
}

/**
 * The output limit under the name that all servers obey, and instructions in the role that all of them know. A server
 * that ignores the name of the limit would have no limit, and the hold would not cover its output.
 */
function inOriginalWords({ max_completion_tokens: limit, messages }: JsonObject): JsonObject {
  return {
    max_completion_tokens: undefined,
    ...(isGiven(limit) && { max_tokens: limit }),
    ...(isArray(messages) &&
      messages.some(isInstruction) && {
        messages: messages.map((each) =>
          isInstruction(each) ? { ...each, role: 'system' } : each,
        ),
      }),
  }
}

function isInstruction(message: Json): message is JsonObject {
  return isObject(message) && message['role'] === 'developer'
}

/** OpenRouter reads PDF files by OCR for models that cannot, unless told otherwise: for a fee that no hold covers. */
function withFreeParser(body: JsonObject, readsFiles: boolean): JsonObject {
  if (!mentionsFile(body)) return {}
  const engine = readsFiles ? 'native' : 'cloudflare-ai'
  return { plugins: [{ id: 'file-parser', pdf: { engine } }] }
}

/** Whether anything in it may be a file, wherever it stands. */
function mentionsFile(value: Json | undefined): boolean {
  if (value === 'file' || value === 'input_file') return true
  if (isArray(value)) return value.some(mentionsFile)
  return isObject(value) && ('file' in value || Object.values(value).some(mentionsFile))
}

/** Mistral refuses a request with any member that its published API does not name. */
function withoutUnknown(body: JsonObject, format: UpstreamFormat): JsonObject {
  const changes: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(body)) {
    if (isTaken(name, format)) continue
    changes[name] = undefined
    const own = ownName(name, format)
    if (own !== undefined && isGiven(value) && !isGiven(body[own])) changes[own] = value
  }
  const { messages } = body
  if (isArray(messages)) changes['messages'] = knownMessages(messages)
  return changes
}

function unknownIn(body: JsonObject, format: UpstreamFormat): readonly string[] {
  const fields = Object.entries(body)
    .filter(([name, value]) => !isTaken(name, format) && saysSomething(value))
    .map(([name]) => name)
    .filter((name) => ownName(name, format) === undefined && !MEANINGLESS.has(name))
  const messages = listOf(body['messages'])
  return [...fields, ...unknownInMessages(messages)]
}

/** `functions` is not taken either, but without it the answer would differ: better that the server refuses. */
const TAKEN: Partial<Record<UpstreamFormat, readonly string[]>> = {
  chat: `model messages stream max_tokens n temperature top_p random_seed stop presence_penalty frequency_penalty
    tools tool_choice parallel_tool_calls response_format reasoning_effort metadata prompt_cache_key prompt_mode
    safe_prompt guardrails functions function_call`.split(/\s+/),
  embeddings: ['model', 'input', 'encoding_format', 'metadata', 'output_dimension', 'output_dtype'],
}

/** Members that it knows under another name. */
const OWN_NAMES: Partial<Record<UpstreamFormat, ReadonlyMap<string, string>>> = {
  chat: new Map([
    ['seed', 'random_seed'],
    ['max_completion_tokens', 'max_tokens'],
  ]),
  embeddings: new Map([['dimensions', 'output_dimension']]),
}

/** Usage is always reported, and earlier checks allow only one service tier and one modality. */
const MEANINGLESS: ReadonlySet<string> = new Set(['stream_options', 'service_tier', 'modalities'])

function isTaken(name: string, format: UpstreamFormat): boolean {
  return TAKEN[format]?.includes(name) ?? true
}

function ownName(name: string, format: UpstreamFormat): string | undefined {
  return OWN_NAMES[format]?.get(name)
}

/** Returns the same list if nothing in it has to change, so that its bytes stay as they are. */
function knownMessages(messages: readonly Json[]): readonly Json[] {
  const known = messages.map((message, index) =>
    inPlace(withKnownIds(knownMessage(message)), messages[index - 1]),
  )
  return known.every((message, index) => message === messages[index]) ? messages : known
}

function unknownInMessages(messages: readonly Json[]): readonly string[] {
  const names = messages.filter(isObject).flatMap((message) =>
    Object.entries(message)
      .filter(([name, value]) => !isKnownIn(message, name) && saysSomething(value))
      .filter(([name]) => name !== 'refusal')
      .map(([name]) => `messages.${REASONING_MEMBERS.includes(name) ? 'reasoning_details' : name}`),
  )
  return [...new Set(names)]
}

const SPOKEN = ['role', 'content']
const KNOWN_MEMBERS = new Map<unknown, readonly string[]>([
  ['system', SPOKEN],
  // Sent as `system`.
  ['developer', SPOKEN],
  ['user', SPOKEN],
  ['assistant', [...SPOKEN, 'tool_calls', 'prefix']],
  ['tool', [...SPOKEN, 'tool_call_id', 'name']],
])

function isKnownIn({ role }: JsonObject, name: string): boolean {
  return KNOWN_MEMBERS.get(role)?.includes(name) ?? true
}

function knownMessage(message: Json): Json {
  if (!isObject(message)) return message
  const entries = Object.entries(message)
  const known = entries.filter(([name]) => isKnownIn(message, name))
  if (known.length === entries.length) return message
  const { content, refusal } = message
  const said = typeof refusal === 'string' ? { content: withRefusal(content, refusal) } : {}
  return { ...Object.fromEntries(known), ...said }
}

/** A refusal is text of the model, and has no member of its own here. */
function withRefusal(content: Json | undefined, refusal: string): Json {
  if (isArray(content)) return [...content, { type: 'text', text: refusal }]
  return typeof content === 'string' ? content + refusal : refusal
}

/** The call ids that it accepts; a conversation may hold calls of other models, whose ids look different. */
const CALL_ID = /^[a-zA-Z\d]{9}$/
const CALL_ID_CHARACTERS = 9

function withKnownIds(message: Json): Json {
  if (!isObject(message)) return message
  const { tool_calls: calls, tool_call_id: id } = message
  if (isForeignId(id)) return { ...message, tool_call_id: knownId(id) }
  if (!listOf(calls).some((call) => isForeignId(objectOf(call)['id']))) return message
  return { ...message, tool_calls: listOf(calls).map(withKnownId) }
}

function withKnownId(call: Json): Json {
  return isObject(call) && isForeignId(call['id']) ? { ...call, id: knownId(call['id']) } : call
}

function isForeignId(id: Json | undefined): id is string {
  return typeof id === 'string' && !CALL_ID.test(id)
}

function knownId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, CALL_ID_CHARACTERS)
}

/** Instructions after an answer or a tool result are refused, so they move into the user's turn. */
function inPlace(message: Json, before: Json | undefined): Json {
  const isLate = isObject(before) && (before['role'] === 'assistant' || before['role'] === 'tool')
  if (!isLate || !isObject(message) || message['role'] !== 'system') return message
  const { content = null } = message
  const said = isArray(content) ? content.map(inUsersTurn) : inUsersTurn(content)
  return { ...message, role: 'user', content: said }
}

/** The content of an instruction, or a part of it. */
function inUsersTurn(content: Json): Json {
  if (typeof content === 'string') return lateInstruction(content)
  if (!isObject(content) || typeof content['text'] !== 'string') return content
  return { ...content, text: lateInstruction(content['text']) }
}
