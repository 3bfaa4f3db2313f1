// The responses codec: the client's half, the provider's half, and passthrough. Where both sides speak responses, bytes
// pass through unchanged, except for the model name, the state that Tollgate keeps instead of the provider, the output
// limit, and tools that no hold covers.
import type { Json, JsonObject } from '../../core/json.ts'
import { listOf, objectOf, stringOf } from '../../core/json.ts'
import { readJsonEvent } from '../content/answer.ts'
import type {
  AnswerContext,
  Codec,
  EventForwarder,
  JsonAnswer,
  RequestChange,
} from '../contract/codec.ts'
import { decodeErrorBody } from '../contract/errors.ts'
import { givesEncryptedReasoning } from '../contract/models.ts'
import type { SseEvent } from '../contract/sse.ts'
import { sseEvent, writeSse } from '../contract/sse.ts'
import type { JsonBody } from '../json/body.ts'
import { rewriteMembers, setMembers } from '../json/body.ts'
import { exactly } from '../json/exact.ts'
import { decodeEvents, decodeResponse } from './answer-decode.ts'
import { DONE, encodeEvents, encodeResponse, KEEP_ALIVE, numberedEvent } from './answer-encode.ts'
import { affinityOf, readableInput, readCall, usableCaching, withoutReasoning } from './call.ts'
import { ENCRYPTED_REASONING } from './fields.ts'
import { decodeRequest } from './request-decode.ts'
import { encodeRequest, RESPONSES_LOSSES } from './request-encode.ts'
import { failureSteps, responseObjects } from './response-object.ts'
import { usableTools } from './tools.ts'

export const responsesCodec: Codec = {
  format: 'responses',
  family: 'chat',
  losses: RESPONSES_LOSSES,
  readCall,
  affinityOf,
  decodeRequest,
  withoutReasoning,
  encodeEvents,
  encodeResponse,
  encodeRequest,
  decodeEvents,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest,
  forwardEvents,
  forwardResponse,
}

export function forwardRequest(body: JsonBody, change: RequestChange): Buffer {
  return rewriteMembers(body, (value) => changesTo(value, change), change.adapt)
}

function changesTo(value: JsonObject, change: RequestChange): JsonObject {
  const { searchesMax } = change
  const maySearch = searchesMax !== undefined
  const { tools, toolChoice, input: usable, dropped } = usableTools(value, { maySearch })
  return {
    model: change.model,
    input: readableInput(usable),
    store: false,
    previous_response_id: undefined,
    context_management: undefined,
    prompt_cache_options: usableCaching(value).options,
    ...(change.outputTokensMax === undefined ? {} : { max_output_tokens: change.outputTokensMax }),
    ...(givesEncryptedReasoning(change) ? { include: includeOf(value) } : {}),
    ...(maySearch ? { max_tool_calls: searchesMax } : {}),
    ...(dropped.length === 0
      ? {}
      : { tools: tools.length === 0 ? undefined : tools, tool_choice: toolChoice }),
  }
}

function includeOf(body: JsonObject): readonly Json[] {
  const asked = listOf(body['include'])
  return asked.includes(ENCRYPTED_REASONING) ? asked : [...asked, ENCRYPTED_REASONING]
}

/** The events that carry a response object, whose id and names must be Tollgate's. */
const LIFECYCLE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
])
const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

export function forwardEvents(answer: AnswerContext): EventForwarder {
  const id = answer.newId('resp')
  const names = ours(answer, id)
  const respond = responseObjects(answer, id)
  // Every event counts in the sequence, so the number of forwarded events is the next number.
  let sequence = 0
  return {
    keepAlive: KEEP_ALIVE,
    forward(event) {
      // Tollgate adds its own end marker after the last response, because not every provider sends one.
      if (event.data === DONE.data) return ''
      if (event.data !== '') sequence++
      const type = event.event === '' ? unnamedType(event) : event.event
      if (!LIFECYCLE.has(type)) return event.raw
      const data = exactly(event.data, readJsonEvent(event))
      const response = { ...objectOf(data['response']), ...names }
      const changed = writeSse(sseEvent(event.event, { ...data, response }))
      return LAST.has(type) ? changed + writeSse(DONE) : changed
    },
    fail(error) {
      const steps = failureSteps(error, answer, (told) =>
        respond({ status: 'failed', error: told }, []),
      )
      return steps.map((step) => numberedEvent(step, sequence++))
    },
  }
}

export function forwardResponse({ text }: JsonAnswer, answer: AnswerContext): string {
  return setMembers(text, ours(answer, answer.newId('resp')))
}

/** What the client must see of its own request and of Tollgate, whatever was sent upstream. */
function ours({ model, body }: AnswerContext, id: string): JsonObject {
  return {
    id,
    model,
    previous_response_id: body['previous_response_id'] ?? null,
    store: body['store'] ?? true,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
  }
}

/** A provider that omits the event line still names the event in its data. */
function unnamedType(event: SseEvent): string {
  return event.data === '' ? '' : (stringOf(readJsonEvent(event)['type']) ?? '')
}
