// A place that refuses a request for every member that it does not know, as Mistral does: it is sent what it takes, and
// what is left out for that is named. What it takes is its published API.
import type { UpstreamFormat } from '../core/endpoints.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isGiven, isObject } from '../core/json.ts'
import { changeMembers, readJsonBody } from '../wire/json.ts'

/** The same request without what would be refused. */
export function withoutUnknown(bytes: Uint8Array, format: UpstreamFormat): Uint8Array {
  const body = readJsonBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const changes: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(body.value)) {
    const own = OWN_NAMES[name]
    if (isTaken(name, format)) continue
    changes[name] = undefined
    if (own !== undefined && isGiven(value) && !isGiven(body.value[own])) changes[own] = value
  }
  const { messages } = body.value
  if (isArray(messages)) changes['messages'] = knownMessages(messages)
  return changeMembers(body, changes)
}

/** What is lost by that, by the format's names. */
export function unknownIn(body: JsonObject, format: UpstreamFormat): readonly string[] {
  const fields = Object.entries(body)
    .filter(([name, value]) => !isTaken(name, format) && isSaid(value))
    .map(([name]) => name)
    .filter((name) => OWN_NAMES[name] === undefined && !MEANINGLESS.has(name))
  const messages = isArray(body['messages']) ? body['messages'].filter(isObject) : []
  const members = messages.flatMap((message) =>
    Object.entries(message)
      .filter(([name, value]) => !isKnownIn(message, name) && isSaid(value))
      .filter(([name]) => name !== 'refusal')
      .map(([name]) => `messages.${THOUGHTS.has(name) ? 'reasoning_details' : name}`),
  )
  return [...new Set([...fields, ...members])]
}

const TAKEN: Partial<Record<UpstreamFormat, ReadonlySet<string>>> = {
  chat: new Set([
    'model',
    'messages',
    'stream',
    'max_tokens',
    'n',
    'temperature',
    'top_p',
    'random_seed',
    'stop',
    'presence_penalty',
    'frequency_penalty',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'reasoning_effort',
    'metadata',
    'prompt_cache_key',
    'prompt_mode',
    'safe_prompt',
    'guardrails',
    // Not taken, but without them the answer would be another: the refusal says so.
    'functions',
    'function_call',
  ]),
  embeddings: new Set([
    'model',
    'input',
    'encoding_format',
    'metadata',
    'output_dimension',
    'output_dtype',
  ]),
}

/** Its words for what others call so. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  seed: 'random_seed',
  dimensions: 'output_dimension',
  max_completion_tokens: 'max_tokens',
}

/** Usage is told unasked, and only one price and one kind of answer were allowed before. */
const MEANINGLESS: ReadonlySet<string> = new Set(['stream_options', 'service_tier', 'modalities'])

const SPOKEN = ['role', 'content']
const KNOWN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  system: SPOKEN,
  user: SPOKEN,
  assistant: [...SPOKEN, 'tool_calls', 'prefix'],
  tool: [...SPOKEN, 'tool_call_id', 'name'],
}
const THOUGHTS: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
])

function isTaken(name: string, format: UpstreamFormat): boolean {
  return TAKEN[format]?.has(name) ?? true
}

/** SDKs send answers back as they came, with an empty list or null for all that they do not say. */
function isSaid(value: Json | undefined): boolean {
  return isGiven(value) && !(isArray(value) && value.length === 0)
}

function isKnownIn({ role }: JsonObject, name: string): boolean {
  return KNOWN_MEMBERS[String(role)]?.includes(name) ?? true
}

/** The same list where all of it is known, so that its bytes stay as they are. */
function knownMessages(messages: readonly Json[]): readonly Json[] {
  const known = messages.map(knownMessage)
  return known.every((message, index) => message === messages[index]) ? messages : known
}

function knownMessage(message: Json): Json {
  if (!isObject(message)) return message
  const entries = Object.entries(message)
  const known = entries.filter(([name]) => isKnownIn(message, name))
  if (known.length === entries.length) return message
  // A refusal is what the model said: it has no place of its own here.
  const { content, refusal } = message
  const said = isGiven(content) || !isGiven(refusal) ? {} : { content: refusal }
  return { ...Object.fromEntries(known), ...said }
}
