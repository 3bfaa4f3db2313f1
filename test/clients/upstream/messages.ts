// The scripted model as Anthropic's messages: it reasons when it is asked to, signs its reasoning, and wants it back.
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { listOf, objectOf, stringOf, typeOf } from '../../../src/core/json.ts'
import { halves } from './chat.ts'
import type { Part, Seen, Turn } from './plan.ts'
import { Issued, onlyKnown, Refusal, tokensIn } from './plan.ts'
import type { Answer, ServerEvent, Speech } from './server.ts'

const FIELDS =
  'model messages system tools tool_choice stream max_tokens temperature top_p top_k stop_sequences metadata ' +
  'thinking output_config service_tier context_management cache_control'

const signatures = new Issued()
const ids = new Issued()

export const messages: Speech = { read, answer }

function thinks(body: JsonObject): boolean {
  const type = objectOf(body['thinking'])['type']
  return type === 'enabled' || type === 'adaptive'
}

function read(body: JsonObject): Seen {
  onlyKnown(body, FIELDS, '')
  const { max_tokens, system, tools, tool_choice, output_config, thinking, temperature } = body
  if (typeof max_tokens !== 'number') throw new Refusal(400, 'max_tokens: Field required')
  const choice = objectOf(tool_choice)
  const isForced = choice['type'] === 'tool' || choice['type'] === 'any'
  if (thinks(body) && isForced)
    throw new Refusal(400, 'Thinking may not be enabled when tool_choice forces tool use.')
  if (thinks(body) && temperature !== undefined && temperature !== 1)
    throw new Refusal(400, '`temperature` may only be set to 1 when thinking is enabled.')
  const budget = objectOf(thinking)['budget_tokens']
  if (typeof budget === 'number' && budget >= max_tokens)
    throw new Refusal(400, '`max_tokens` must be greater than `thinking.budget_tokens`.')
  const format = objectOf(objectOf(output_config)['format'])
  checkSchema(format['schema'])
  const list = listOf(tools).map(objectOf)
  for (const { name, strict, input_schema } of list) {
    if (!/^[\w-]{1,128}$/.test(String(name)))
      throw new Refusal(400, `tools.name: String should match pattern: ${String(name)}`)
    if (strict === true) checkSchema(input_schema)
  }
  const parts = partsOf(listOf(body['messages']).map(objectOf))
  checkReasoning(body)
  return {
    parts: [{ kind: 'text', text: textOf(system) }, ...parts],
    tools: list.map(({ name }) => String(name)),
    forced:
      stringOf(choice['name']) ??
      (choice['type'] === 'any' ? String(list[0]?.['name']) : undefined),
    schema: format['schema'],
  }
}

/** The keywords that it enforces are few, and it refuses the others. */
function checkSchema(schema: Json | undefined): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (
      /^(minimum|maximum|minLength|maxLength|maxItems|multipleOf)$/.test(name) &&
      typeof value === 'number'
    )
      throw new Refusal(400, `output_config.format.schema: property '${name}' is not supported`)
    checkSchema(value as Json)
  }
  const { type, additionalProperties } = schema as JsonObject
  if (type === 'object' && additionalProperties !== false)
    throw new Refusal(
      400,
      `output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false`,
    )
}

function partsOf(turns: readonly JsonObject[]): Part[] {
  let open: string[] = []
  return turns.flatMap(({ role, content }, index): Part[] => {
    const blocks =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : listOf(content).map(objectOf)
    if (role === 'assistant') {
      if (open.length > 0)
        throw new Refusal(
          400,
          `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
        )
      for (const block of blocks) {
        if (typeOf(block) === 'thinking')
          signatures.check(
            block['signature'],
            `messages.${index}.content: Invalid \`signature\` in \`thinking\` block`,
          )
        if (typeOf(block) === 'text' && String(block['text']).trim() === '')
          throw new Refusal(
            400,
            `messages.${index}: text content blocks must contain non-whitespace text`,
          )
        if (typeOf(block) !== 'tool_use') continue
        if (!/^[\w-]+$/.test(String(block['id'])))
          throw new Refusal(
            400,
            `messages.${index}.content.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
          )
        open.push(String(block['id']))
      }
      return [{ kind: 'answer', text: textOf(content) }]
    }
    if (role !== 'user')
      throw new Refusal(400, `messages.${index}.role: unexpected ${String(role)}`)
    if (blocks.length === 0)
      throw new Refusal(400, `messages.${index}: user messages must have non-empty content`)
    const parts = blocks.map((block): Part => {
      if (typeOf(block) !== 'tool_result')
        return { kind: 'text', text: stringOf(block['text']) ?? '' }
      const id = String(block['tool_use_id'])
      if (!open.includes(id))
        throw new Refusal(
          400,
          `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`,
        )
      open = open.filter((each) => each !== id)
      return { kind: 'result', text: textOf(block['content']) }
    })
    if (open.length > 0)
      throw new Refusal(
        400,
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
      )
    return parts
  })
}

/** With a reasoning budget, the turn that continues after a tool's result must begin with its reasoning. */
function checkReasoning(body: JsonObject): void {
  if (objectOf(body['thinking'])['type'] !== 'enabled') return
  const turns = listOf(body['messages']).map(objectOf)
  const last = turns.at(-1)
  if (!listOf(last?.['content']).some((block) => typeOf(objectOf(block)) === 'tool_result')) return
  const [first] = listOf(turns.at(-2)?.['content']).map(objectOf)
  if (first !== undefined && !/thinking/.test(typeOf(first)))
    throw new Refusal(
      400,
      `messages.${turns.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${typeOf(first)}\`.`,
    )
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join('\n')
}

function answer(body: JsonObject, turn: Turn): Answer {
  const thought: JsonObject[] = thinks(body)
    ? [{ type: 'thinking', thinking: 'Let me think.', signature: signatures.make('sig') }]
    : []
  const block: JsonObject =
    'call' in turn
      ? { type: 'tool_use', id: ids.make('toolu_'), name: turn.call.name, input: turn.call.input }
      : { type: 'text', text: turn.words.join('') }
  const content = [...thought, block]
  const stop_reason = 'call' in turn ? 'tool_use' : 'end_turn'
  const before = {
    input_tokens: tokensIn(body),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  const usage = { ...before, output_tokens: tokensIn(turn), service_tier: 'standard' }
  const message: JsonObject = {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: body['model'],
    stop_sequence: null,
  }
  const events: JsonObject[] = [
    {
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { ...before, output_tokens: 1 },
      },
    },
    { type: 'ping' },
    ...content.flatMap((each, index) => [
      { type: 'content_block_start', index, content_block: started(each) },
      ...deltasOf(each, turn).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { ...before, output_tokens: tokensIn(turn) },
    },
    { type: 'message_stop' },
  ]
  return {
    whole: { ...message, content, stop_reason, usage },
    events: events.map((data): ServerEvent => ({ name: typeOf(data), data })),
    error: (text, status) => ({
      type: 'error',
      error: { type: status >= 500 ? 'api_error' : 'invalid_request_error', message: text },
      request_id: 'req_scripted',
    }),
  }
}

function started(block: JsonObject): JsonObject {
  if (typeOf(block) === 'tool_use') return { ...block, input: {} }
  if (typeOf(block) === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return { type: 'text', text: '' }
}

function deltasOf(block: JsonObject, turn: Turn): JsonObject[] {
  if (typeOf(block) === 'thinking')
    return [
      { type: 'thinking_delta', thinking: block['thinking'] },
      { type: 'signature_delta', signature: block['signature'] },
    ]
  if ('words' in turn) return turn.words.map((text) => ({ type: 'text_delta', text }))
  return halves(JSON.stringify(turn.call.input)).map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }))
}
