// Canonical events as the steps of a responses answer: items in order, each added, grown and done, with the full
// response object at both ends. A stream sends every step; a whole answer is the response of the last one.
import type { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, FinishReason, UsageEvent } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { ownCallId } from '../call-ids.ts'
import type { AnswerContext } from '../codec.ts'
import { restoreCustomCalls } from '../custom-tools.ts'
import type { Step } from './failure-steps.ts'
import { failureSteps } from './failure-steps.ts'
import type { ItemStatus, OpenItem } from './open-item.ts'
import { CallItem, MessageItem, ReasoningItem } from './open-item.ts'
import type { ResponseState } from './response-object.ts'
import { responseObjects } from './response-object.ts'
import type { ToolNames } from './tool-names.ts'
import { toolNames } from './tool-names.ts'

export class AnswerWriter {
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
        return this.#grow(this.#message().startText())
      case 'text-delta':
        return this.#grow(this.#message().addText(event.text, event.logprobs))
      case 'text-citation':
        return this.#grow(this.#message().addCitation(event.citation))
      case 'text-end':
        return this.#grow(this.#message().endText())
      case 'refusal-start':
        return this.#grow(this.#message().startRefusal())
      case 'refusal-delta':
        return this.#grow(this.#message().addRefusal(event.text))
      case 'refusal-end':
        return this.#grow(this.#message().endRefusal())
      case 'thinking-start':
        return this.#start(new ReasoningItem(this.#answer.newId('rs')))
      case 'thinking-delta':
        if (this.#open instanceof ReasoningItem) this.#grow(this.#open.add(event.text))
        return
      case 'thinking-end':
        if (this.#open instanceof ReasoningItem) this.#grow(this.#open.end(event.seal))
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
    this.#grow(this.#message().startRefusal())
    this.#grow(this.#message().addRefusal(explanation))
    this.#grow(this.#message().endRefusal())
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
    const place = { item_id: this.#open.id, output_index: this.#output.length }
    for (const { type, ...rest } of steps) this.#steps.push({ type, ...place, ...rest })
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
    const state: ResponseState = isCut(this.#reason)
      ? {
          status: 'incomplete',
          counted,
          reason: this.#reason === 'refusal' ? 'content_filter' : 'max_output_tokens',
        }
      : { status: 'completed', counted }
    this.#steps.push({
      type: `response.${state.status}`,
      response: this.#respond(state, this.#output),
    })
  }
}

function isCut(reason: FinishReason): boolean {
  return reason === 'limit' || reason === 'context' || reason === 'refusal'
}
