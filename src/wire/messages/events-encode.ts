// A messages answer from canonical events: the stream's events one by one, and the whole message put together from the
// very same events, as the SDKs do it.
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { Seal } from '../../core/request.ts'
import type { AnswerContext, EventEncoder } from '../codec.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { encodeError } from '../errors.ts'
import { packSeal, SEAL_MARK } from '../seal.ts'
import { sseEvent, writeSse } from '../sse.ts'
import { encodeStop } from './stop-reason.ts'
import { toolInputObject } from './tool-input.ts'
import { longToolNames } from './tool-names.ts'
import { encodeUsage } from './usage.ts'

/** One event of the stream; its type is also the name on the `event:` line, without which SDKs drop it. */
type Frame = JsonObject & { readonly type: string }
type ChoiceEnd = Extract<CanonicalEvent, { type: 'choice-end' }>

const KEEP_ALIVE = writeSse(sseEvent('ping', { type: 'ping' }))

export function encodeEvents(answer: AnswerContext): EventEncoder {
  const writer = new FrameWriter(answer)
  return {
    encode: (event) => writer.write(event).map((frame) => sseEvent(frame.type, frame)),
    fail: (error) => [sseEvent('error', encodeError('messages', error, answer.requestId))],
    keepAlive: KEEP_ALIVE,
  }
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const writer = new FrameWriter(answer)
  return assemble(events.flatMap((event) => writer.write(event)))
}

/** The signature of thoughts that nobody sealed: an empty pack, so that no provider is shown them as its own. */
const UNSEALED = SEAL_MARK

class FrameWriter {
  readonly #answer: AnswerContext
  readonly #toolNames: ReadonlyMap<string, string>
  #usage: Usage = NO_USAGE
  #end: ChoiceEnd = { type: 'choice-end', choice: 0, reason: 'stop' }
  /** The blocks that were started so far, and whether the last one is still open. */
  #blocks = 0
  #isOpen = false
  #hasCalled = false
  #hasRefused = false
  /** The input of a custom tool, which can only be written when it is complete. */
  #customInput: string | undefined

  constructor(answer: AnswerContext) {
    this.#answer = answer
    this.#toolNames = longToolNames(answer.body)
  }

  write(event: CanonicalEvent): Frame[] {
    // This format has one answer only; a request for more never comes this far.
    if ('choice' in event && event.choice > 0) return []
    switch (event.type) {
      case 'response-start':
        return [this.#messageStart()]
      case 'text-start':
      case 'refusal-start':
      case 'thinking-start':
        // Opened by its first piece: empty text blocks are refused when a client sends them back, and whether a
        // thought is redacted shows only at its end.
        return []
      case 'text-delta':
        return this.#text(event.text)
      case 'refusal-delta':
        this.#hasRefused = true
        return this.#text(event.text)
      case 'text-citation':
        return this.#citation(event.citation)
      case 'thinking-delta':
        if (event.text === '') return []
        return [
          ...this.#open({ type: 'thinking', thinking: '', signature: '' }),
          this.#delta({ type: 'thinking_delta', thinking: event.text }),
        ]
      case 'thinking-end':
        return this.#endThinking(event.seal)
      case 'tool-call-start':
        return this.#startToolCall(event)
      case 'tool-call-delta':
        return this.#toolInput(event.text)
      case 'tool-call-end':
        return this.#endToolCall()
      case 'text-end':
      case 'refusal-end':
        return this.#close()
      case 'choice-end':
        this.#end = event
        return []
      case 'usage':
        this.#usage = event.usage
        return []
      case 'response-end':
        return [this.#messageDelta(), { type: 'message_stop' }]
      case 'ping':
        return [{ type: 'ping' }]
      case 'embedding':
        return []
    }
  }

  #messageStart(): Frame {
    const message = {
      id: this.#answer.newId('msg'),
      type: 'message',
      role: 'assistant',
      model: this.#answer.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: encodeUsage(this.#usage),
    }
    return { type: 'message_start', message }
  }

  #messageDelta(): Frame {
    const stop = encodeStop(this.#end, { called: this.#hasCalled, refused: this.#hasRefused })
    return {
      type: 'message_delta',
      delta: { ...stop, container: null },
      usage: encodeUsage(this.#usage),
    }
  }

  #text(text: string): Frame[] {
    if (text === '') return []
    return [...this.#openText(), this.#delta({ type: 'text_delta', text })]
  }

  #openText(): Frame[] {
    return this.#open({ type: 'text', text: '', citations: null })
  }

  #citation({ url, title }: { readonly url: string; readonly title: string }): Frame[] {
    const citation = {
      type: 'web_search_result_location',
      url,
      title,
      cited_text: '',
      encrypted_index: '',
    }
    return [...this.#openText(), this.#delta({ type: 'citations_delta', citation })]
  }

  #endThinking(seal: Seal | undefined): Frame[] {
    const signature = seal === undefined ? UNSEALED : packSeal(seal, 'messages')
    if (!this.#isOpen) {
      if (seal === undefined || seal.value === '') return []
      const isSigned = seal.format === 'messages' && seal.kind === 'signature'
      if (!isSigned) {
        return [...this.#open({ type: 'redacted_thinking', data: signature }), ...this.#close()]
      }
    }
    return [
      ...this.#open({ type: 'thinking', thinking: '', signature: '' }),
      this.#delta({ type: 'signature_delta', signature }),
      ...this.#close(),
    ]
  }

  #startToolCall(event: Extract<CanonicalEvent, { type: 'tool-call-start' }>): Frame[] {
    this.#hasCalled = true
    this.#customInput = event.custom ? '' : undefined
    return this.#open({
      type: 'tool_use',
      id: event.id === '' ? this.#answer.newId('toolu') : event.id,
      name: this.#toolNames.get(event.name) ?? event.name,
      input: {},
      caller: { type: 'direct' },
    })
  }

  #toolInput(text: string): Frame[] {
    if (this.#customInput !== undefined) {
      this.#customInput += text
      return []
    }
    return text === '' ? [] : [this.#delta({ type: 'input_json_delta', partial_json: text })]
  }

  #endToolCall(): Frame[] {
    if (this.#customInput === undefined) return this.#close()
    const input = JSON.stringify(wrapCustomInput(this.#customInput))
    return [this.#delta({ type: 'input_json_delta', partial_json: input }), ...this.#close()]
  }

  #open(block: JsonObject): Frame[] {
    if (this.#isOpen) return []
    this.#isOpen = true
    return [{ type: 'content_block_start', index: this.#blocks++, content_block: block }]
  }

  #delta(delta: JsonObject): Frame {
    return { type: 'content_block_delta', index: this.#blocks - 1, delta }
  }

  #close(): Frame[] {
    if (!this.#isOpen) return []
    this.#isOpen = false
    return [{ type: 'content_block_stop', index: this.#blocks - 1 }]
  }
}

/** The whole message that a reader of these frames ends up with. */
function assemble(frames: readonly Frame[]): JsonObject {
  let message: JsonObject = {}
  const blocks: Record<string, Json | undefined>[] = []
  for (const frame of frames) {
    const { delta, content_block: block } = frame
    if (frame.type === 'message_start' && isObject(frame['message'])) message = frame['message']
    else if (isObject(block)) blocks.push({ ...block })
    else if (frame.type === 'content_block_delta' && isObject(delta)) extend(blocks.at(-1), delta)
    else if (frame.type === 'message_delta' && isObject(delta)) {
      message = { ...message, ...delta, usage: frame['usage'] }
    }
  }
  const content = blocks.map((block) =>
    typeof block['input'] === 'string'
      ? { ...block, input: toolInputObject(block['input']) }
      : block,
  )
  return { ...message, content }
}

/** Tool input is collected as text and becomes an object when it is complete. */
function extend(block: Record<string, Json | undefined> | undefined, delta: JsonObject): void {
  if (block === undefined) return
  const add = (name: string, piece: Json | undefined): void => {
    const before = block[name]
    block[name] = (typeof before === 'string' ? before : '') + String(piece)
  }
  switch (String(delta['type'])) {
    case 'text_delta':
      return add('text', delta['text'])
    case 'thinking_delta':
      return add('thinking', delta['thinking'])
    case 'input_json_delta':
      return add('input', delta['partial_json'])
    case 'signature_delta':
      block['signature'] = delta['signature']
      return undefined
    case 'citations_delta': {
      const before = block['citations']
      block['citations'] = [...(Array.isArray(before) ? before : []), delta['citation'] ?? null]
      return undefined
    }
    default:
      return undefined
  }
}
