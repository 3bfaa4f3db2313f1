// A place that refuses a request with any member it does not know, as Mistral does: it is sent only what it accepts
// according to its published API, and what is left out is reported.
import type { UpstreamFormat } from '../core/endpoints.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isGiven, listOf } from '../core/json.ts'
import { saysSomething } from '../wire/contract/fields.ts'
import { readAgain, rewriteMembers } from '../wire/json/body.ts'
import { knownMessages, unknownInMessages } from './strict-messages.ts'

/** The same request without what would be refused. */
export async function withoutUnknown(bytes: Buffer, format: UpstreamFormat): Promise<Buffer> {
  return rewriteMembers(await readAgain(bytes), (body) => changesTo(body, format))
}

function changesTo(body: JsonObject, format: UpstreamFormat): JsonObject {
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

/** What that leaves out, by the format's names. */
export function unknownIn(body: JsonObject, format: UpstreamFormat): readonly string[] {
  const fields = Object.entries(body)
    .filter(([name, value]) => !isTaken(name, format) && saysSomething(value))
    .map(([name]) => name)
    .filter((name) => ownName(name, format) === undefined && !MEANINGLESS.has(name))
  const messages = listOf(body['messages'])
  return [...fields, ...unknownInMessages(messages)]
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
    // Not accepted, but without them the answer would differ: better that the place refuses the request.
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
  return TAKEN[format]?.has(name) ?? true
}

function ownName(name: string, format: UpstreamFormat): string | undefined {
  return OWN_NAMES[format]?.get(name)
}
