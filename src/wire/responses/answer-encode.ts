// Canonical events as a responses answer: items in order, each added, grown and done, with the full response object at
// both ends. A stream sends every step, numbered; a whole answer is the response of the last one.
import type { GatewayError } from '../../core/errors.ts'
import type {
  CanonicalEvent,
  Citation,
  FinishReason,
  TokenLogprob,
  UsageEvent,
} from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isObject } from '../../core/json.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import { packReasoning } from '../content/opaque-reasoning.ts'
import { ownCallId, restoreCustomCalls } from '../content/tools.ts'
import type { AnswerContext, EventEncoder } from '../contract/codec.ts'
import type { SseEvent } from '../contract/sse.ts'
import { sseComment, sseEvent } from '../contract/sse.ts'
import type { ResponseState, Step } from './response-object.ts'
import { failureSteps, responseObjects } from './response-object.ts'
import type { OwnTool, ToolNames } from './tools.ts'
import { toolNames } from './tools.ts'

/** Keeps a connection alive. A comment, because every event counts in the sequence. */
export const KEEP_ALIVE = sseComment('keepalive')

/** Open Responses requires it at the end of a stream; OpenAI's own clients accept it. */
export const DONE: SseEvent = sseEvent('', '[DONE]')

export function encodeEvents(answer: AnswerContext): EventEncoder {
  const writer = new AnswerWriter(answer)
  let sequence = 0
  const number = (step: Step): SseEvent => numberedEvent(step, sequence++)
  return {
    keepAlive: KEEP_ALIVE,
    encode(event: CanonicalEvent): readonly SseEvent[] {
      const events = writer.write(event).map(number)
      return event.type === 'response-end' ? [...events, DONE] : events
    },
    fail: (error: GatewayError) => writer.fail(error).map(number),
  }
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const writer = new AnswerWriter(answer)
  let response: JsonObject = {}
  for (const event of events) {
    for (const step of writer.write(event)) {
      if (isObject(step['response'])) response = step['response']
    }
  }
  return response
}

export function numberedEvent(step: Step, sequence: number): SseEvent {
  const { type, ...rest } = step
  return sseEvent(type, { type, sequence_number: sequence, ...rest })
}

class AnswerWriter {
  readonly #answer: AnswerContext
  readonly #names: ToolNames
  readonly #restore: (event: CanonicalEvent) => readonly CanonicalEvent[]
  readonly #respond: (state: ResponseState, output: readonly JsonObject[]) => JsonObject
  readonly #output: JsonObject[] = []
  readonly #callIds = new Set<string>()
  /** The first choice, whatever its number: the format has room for one. */
  #choice: number | undefined
  #open: OpenItem | undefined
  #steps: Step[] = []
  #reason: FinishReason = 'stop'
  #counted: UsageEvent | undefined

  constructor(answer: AnswerContext) {
    this.#answer = answer
    this.#names = toolNames(answer.body)
    this.#restore = restoreCustomCalls(this.#names.custom)
    this.#respond = responseObjects(answer, answer.newId('resp'))
  }

  write(event: CanonicalEvent): readonly Step[] {
    if ('choice' in event && event.choice !== (this.#choice ??= event.choice)) return []
    this.#steps = []
    for (const each of this.#restore(event)) this.#take(each)
    return this.#steps
  }

  /** The steps that end an answer that will not be completed. */
  fail(error: GatewayError): readonly Step[] {
    return failureSteps(error, this.#answer, (told) =>
      this.#respond({ status: 'failed', error: told }, [...this.#output]),
    )
  }

  #take(event: CanonicalEvent): void {
    switch (event.type) {
      case 'response-start': {
        const response = this.#respond({ status: 'in_progress' }, [])
        this.#steps.push({ type: 'response.created', response })
        this.#steps.push({ type: 'response.in_progress', response })
        return
      }
      case 'text-start':
        return this.#grow(this.#message().start('text'))
      case 'refusal-start':
        return this.#grow(this.#message().start('refusal'))
      case 'text-delta':
        return this.#grow(this.#message().add(event.text, event.logprobs))
      case 'refusal-delta':
        return this.#grow(this.#message().add(event.text))
      case 'text-citation':
        return this.#grow(this.#message().cite(event.citation))
      case 'text-end':
      case 'refusal-end':
        return this.#grow(this.#message().end())
      case 'reasoning-start':
        return this.#start(new ReasoningItem(this.#answer.newId('rs')))
      case 'reasoning-delta':
        if (this.#open instanceof ReasoningItem) this.#grow(this.#open.add(event.text))
        return
      case 'reasoning-end':
        if (this.#open instanceof ReasoningItem) this.#grow(this.#open.end(event.opaque))
        return
      case 'tool-call-start': {
        const { custom } = event
        const id = this.#answer.newId(custom ? 'ctc' : 'fc')
        const tool = { ...this.#names.own(event.name), custom }
        const callId = ownCallId(event.id, this.#callIds, () => this.#answer.newId('call'))
        return this.#start(new CallItem(id, callId, tool))
      }
      case 'tool-call-delta':
        if (this.#open instanceof CallItem) this.#grow(this.#open.add(event.text))
        return
      case 'tool-call-end':
        if (this.#open instanceof CallItem) this.#grow(this.#open.end())
        return
      case 'choice-end':
        this.#reason = event.reason
        if (event.explanation !== undefined) this.#refuse(event.explanation)
        return this.#finish(isCut(event.reason) ? 'incomplete' : 'completed')
      case 'usage':
        this.#counted = event
        return
      case 'response-end':
        return this.#complete()
      case 'search':
      case 'citations-lost':
      case 'embedding':
      case 'ping':
        return
    }
  }

  /** Sends the provider's explanation as the refusal, because the model wrote none. */
  #refuse(explanation: string): void {
    const message = this.#message()
    this.#grow([...message.start('refusal'), ...message.add(explanation), ...message.end()])
  }

  /** Adjacent texts and refusals are parts of one message, as the format's own models write them. */
  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open
    const item = new MessageItem(this.#answer.newId('msg'))
    this.#start(item)
    return item
  }

  #start(item: OpenItem): void {
    this.#finish('completed')
    this.#open = item
    this.#steps.push({
      type: 'response.output_item.added',
      output_index: this.#output.length,
      item: item.json('in_progress'),
    })
  }

  #grow(steps: readonly Step[]): void {
    if (this.#open === undefined) return
    const at = { item_id: this.#open.id, output_index: this.#output.length }
    for (const { type, ...rest } of steps) this.#steps.push({ type, ...at, ...rest })
  }

  /** An item is done when the next one starts or the answer ends: only then is it known whether it was cut. */
  #finish(status: ItemStatus): void {
    if (this.#open === undefined) return
    const item = this.#open.json(status)
    this.#open = undefined
    this.#steps.push({ type: 'response.output_item.done', output_index: this.#output.length, item })
    this.#output.push(item)
  }

  #complete(): void {
    this.#finish('completed')
    const counted = this.#counted
    const reason = this.#reason === 'refusal' ? 'content_filter' : 'max_output_tokens'
    const state: ResponseState = isCut(this.#reason)
      ? { status: 'incomplete', counted, reason }
      : { status: 'completed', counted }
    const response = this.#respond(state, this.#output)
    this.#steps.push({ type: `response.${state.status}`, response })
  }
}

function isCut(reason: FinishReason): boolean {
  return reason === 'limit' || reason === 'context' || reason === 'refusal'
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** One output item while it is being written: which events announce its growth, and what it is in the end. */
interface OpenItem {
  readonly id: string
  json(status: ItemStatus): JsonObject
}

class MessageItem implements OpenItem {
  readonly id: string
  readonly #content: JsonObject[] = []
  #kind: 'text' | 'refusal' = 'text'
  #text = ''
  #logprobs: Json[] = []
  #annotations: JsonObject[] = []

  constructor(id: string) {
    this.id = id
  }

  json(status: ItemStatus): JsonObject {
    const content = [...this.#content]
    return { id: this.id, type: 'message', status, role: 'assistant', content }
  }

  start(kind: 'text' | 'refusal'): Step[] {
    this.#kind = kind
    this.#text = ''
    this.#logprobs = []
    this.#annotations = []
    return [this.#step('content_part.added', { part: this.#part() })]
  }

  add(delta: string, logprobs: readonly TokenLogprob[] = []): Step[] {
    this.#text += delta
    if (this.#kind === 'refusal') return [this.#step('refusal.delta', { delta })]
    const encoded = logprobs.map(encodeLogprob)
    // One by one: a whole answer can have more of them than a function call can have arguments.
    for (const each of encoded) this.#logprobs.push(each)
    return [this.#step('output_text.delta', { delta, logprobs: encoded })]
  }

  cite({ url, title, start: start_index, end: end_index }: Citation): Step[] {
    const annotation = { type: 'url_citation', url, title, start_index, end_index }
    const annotation_index = this.#annotations.push(annotation) - 1
    return [this.#step('output_text.annotation.added', { annotation_index, annotation })]
  }

  end(): Step[] {
    const part = this.#part()
    const text = this.#text
    const done =
      this.#kind === 'text'
        ? this.#step('output_text.done', { text, logprobs: this.#logprobs })
        : this.#step('refusal.done', { refusal: text })
    const steps = [done, this.#step('content_part.done', { part })]
    this.#content.push(part)
    return steps
  }

  #step(name: string, rest: JsonObject): Step {
    return { type: `response.${name}`, content_index: this.#content.length, ...rest }
  }

  #part(): JsonObject {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text }
    const annotations = [...this.#annotations]
    return { type: 'output_text', text: this.#text, annotations, logprobs: [...this.#logprobs] }
  }
}

/** Reasoning is sent as a summary: OpenAI and Open Responses name the events of raw reasoning differently. */
class ReasoningItem implements OpenItem {
  readonly id: string
  #text = ''
  #encrypted: string | undefined

  constructor(id: string) {
    this.id = id
  }

  json(status: ItemStatus): JsonObject {
    const summary = this.#text === '' ? [] : [{ type: 'summary_text', text: this.#text }]
    // Clients accept the last key missing, but not null.
    const encrypted_content = this.#encrypted
    return defined({ id: this.id, type: 'reasoning', status, summary, encrypted_content })
  }

  add(delta: string): Step[] {
    if (delta === '') return []
    const isFirst = this.#text === ''
    this.#text += delta
    const part = { type: 'summary_text', text: '' }
    const added = { type: 'response.reasoning_summary_part.added', summary_index: 0, part }
    const grown = { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta }
    return isFirst ? [added, grown] : [grown]
  }

  end(opaque: OpaqueReasoning | undefined): Step[] {
    if (opaque !== undefined) this.#encrypted = packReasoning(opaque, 'responses')
    if (this.#text === '') return []
    const text = this.#text
    const part = { type: 'summary_text', text }
    return [
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', summary_index: 0, part },
    ]
  }
}

class CallItem implements OpenItem {
  readonly id: string
  readonly #callId: string
  readonly #tool: OwnTool
  #input = ''

  constructor(id: string, callId: string, tool: OwnTool) {
    this.id = id
    this.#callId = callId
    this.#tool = tool
  }

  json(status: ItemStatus): JsonObject {
    const { name, namespace, custom } = this.#tool
    return {
      id: this.id,
      type: custom ? 'custom_tool_call' : 'function_call',
      status,
      call_id: this.#callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(custom ? { input: this.#input } : { arguments: this.#input }),
    }
  }

  add(delta: string): Step[] {
    if (delta === '') return []
    this.#input += delta
    const type = this.#tool.custom
      ? 'response.custom_tool_call_input.delta'
      : 'response.function_call_arguments.delta'
    return [{ type, delta }]
  }

  end(): Step[] {
    const { name, custom } = this.#tool
    if (custom) return [{ type: 'response.custom_tool_call_input.done', input: this.#input }]
    // Arguments are JSON: a call without input gets an empty object, not an empty string.
    const steps = this.#input === '' ? this.add('{}') : []
    const type = 'response.function_call_arguments.done'
    return [...steps, { type, name, arguments: this.#input }]
  }
}

function encodeLogprob(logprob: TokenLogprob): JsonObject {
  const { token, bytes, top } = logprob
  return {
    token,
    logprob: logprob.logprob,
    bytes: bytes ?? [],
    top_logprobs: top.map((one) => ({ ...one, bytes: one.bytes ?? [] })),
  }
}
