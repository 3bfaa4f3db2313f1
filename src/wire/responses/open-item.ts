// One output item while it is being written: which events announce its growth, and what it is in the end. Items know
// nothing about each other; `answer-writer.ts` puts them in order.
import type { Citation, TokenLogprob } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Seal } from '../../core/request.ts'
import { packSeal } from '../seal.ts'
import type { Step } from './failure-steps.ts'
import type { OwnTool } from './tool-names.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface OpenItem {
  readonly id: string
  json(status: ItemStatus): JsonObject
}

export class MessageItem implements OpenItem {
  readonly id: string
  readonly #content: JsonObject[] = []
  #text = ''
  #logprobs: Json[] = []
  #annotations: JsonObject[] = []

  constructor(id: string) {
    this.id = id
  }

  json(status: ItemStatus): JsonObject {
    return {
      id: this.id,
      type: 'message',
      status,
      role: 'assistant',
      content: [...this.#content],
    }
  }

  startText(): Step[] {
    this.#text = ''
    this.#logprobs = []
    this.#annotations = []
    return [{ type: 'response.content_part.added', ...this.#place(), part: this.#textPart() }]
  }

  addText(delta: string, logprobs: readonly TokenLogprob[] | undefined): Step[] {
    this.#text += delta
    const encoded = (logprobs ?? []).map(encodeLogprob)
    // One by one: a whole answer can have more of them than a function call can have arguments.
    for (const each of encoded) this.#logprobs.push(each)
    return [{ type: 'response.output_text.delta', ...this.#place(), delta, logprobs: encoded }]
  }

  addCitation(citation: Citation): Step[] {
    const annotation = {
      type: 'url_citation',
      url: citation.url,
      title: citation.title,
      start_index: citation.start,
      end_index: citation.end,
    }
    const annotation_index = this.#annotations.push(annotation) - 1
    const type = 'response.output_text.annotation.added'
    return [{ type, ...this.#place(), annotation_index, annotation }]
  }

  endText(): Step[] {
    const part = this.#textPart()
    const steps = [
      {
        type: 'response.output_text.done',
        ...this.#place(),
        text: this.#text,
        logprobs: this.#logprobs,
      },
      { type: 'response.content_part.done', ...this.#place(), part },
    ]
    this.#content.push(part)
    return steps
  }

  startRefusal(): Step[] {
    this.#text = ''
    const part = { type: 'refusal', refusal: '' }
    return [{ type: 'response.content_part.added', ...this.#place(), part }]
  }

  addRefusal(delta: string): Step[] {
    this.#text += delta
    return [{ type: 'response.refusal.delta', ...this.#place(), delta }]
  }

  endRefusal(): Step[] {
    const part = { type: 'refusal', refusal: this.#text }
    const steps = [
      { type: 'response.refusal.done', ...this.#place(), refusal: this.#text },
      { type: 'response.content_part.done', ...this.#place(), part },
    ]
    this.#content.push(part)
    return steps
  }

  #place(): JsonObject {
    return { content_index: this.#content.length }
  }

  #textPart(): JsonObject {
    return {
      type: 'output_text',
      text: this.#text,
      annotations: [...this.#annotations],
      logprobs: [...this.#logprobs],
    }
  }
}

/** Thoughts are sent as a summary: OpenAI and Open Responses name the events of raw thoughts differently. */
export class ReasoningItem implements OpenItem {
  readonly id: string
  #text = ''
  #encrypted: string | undefined

  constructor(id: string) {
    this.id = id
  }

  json(status: ItemStatus): JsonObject {
    const summary = this.#text === '' ? [] : [{ type: 'summary_text', text: this.#text }]
    return {
      id: this.id,
      type: 'reasoning',
      status,
      summary,
      // Clients accept this key missing, but not null.
      ...(this.#encrypted === undefined ? {} : { encrypted_content: this.#encrypted }),
    }
  }

  add(delta: string): Step[] {
    if (delta === '') return []
    const isFirst = this.#text === ''
    this.#text += delta
    const part = { type: 'summary_text', text: '' }
    return [
      ...(isFirst
        ? [{ type: 'response.reasoning_summary_part.added', summary_index: 0, part }]
        : []),
      { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta },
    ]
  }

  end(seal: Seal | undefined): Step[] {
    if (seal !== undefined) this.#encrypted = packSeal(seal, 'responses')
    if (this.#text === '') return []
    const text = this.#text
    const part = { type: 'summary_text', text }
    return [
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', summary_index: 0, part },
    ]
  }
}

export class CallItem implements OpenItem {
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
