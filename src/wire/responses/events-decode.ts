// A provider's responses answer as canonical events, streamed or whole. An item that grows while no other is open is
// streamed; any other is taken whole when it and those before it are done, so blocks never interleave. A whole answer
// is a list of items that are already done.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, FinishReason } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, numberOf, objectOf, stringOf, typeOf } from '../../core/json.ts'
import { readJsonEvent } from '../answer-json.ts'
import { decodeComplaint, streamError, withoutContent } from '../provider-errors.ts'
import type { SseEvent } from '../sse.ts'
import type { ItemDecoder } from './output-decode.ts'
import { itemDecoder } from './output-decode.ts'
import { decodeUsage, isSearchCall } from './usage.ts'
import { usageEvent } from '../counts.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return (event) => {
    // A comment: the provider is alive but has nothing to send.
    if (event.data === '') return [{ type: 'ping' }]
    // The final response has already ended the answer; this adds nothing.
    if (event.data === '[DONE]') return []
    return answer.take(readJsonEvent(event), event.event)
  }
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  const events = new AnswerDecoder().whole(body)
  // The last response of a stream may leave out the items that were sent before; a whole answer is all there is.
  if (!isArray(body['output'])) throw withoutContent()
  return events
}

type OpenItem = {
  readonly index: number
  readonly id: string
  readonly place: string
  readonly decoder: ItemDecoder
}

class AnswerDecoder {
  /** The one item that is being streamed, and what its events call it. */
  #open: OpenItem | undefined
  /** Items that began or were done beside the open one, by place, in that order; undefined = not done yet. */
  readonly #waiting = new Map<string, JsonObject | undefined>()
  readonly #told = new Set<string>()
  readonly #toldIds = new Set<string>()
  #blocks = 0
  #hasStarted = false
  #hasCalled = false
  #isEnded = false

  take(data: JsonObject, name: string): CanonicalEvent[] {
    const type = stringOf(data['type']) ?? name
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return this.#start(objectOf(data['response']))
      case 'response.output_item.added':
        return this.#add(data)
      case 'response.output_item.done':
        return this.#done(data)
      case 'response.completed':
      case 'response.incomplete': {
        // The event's name is the marker, because compatible providers omit the status.
        const status = type.slice('response.'.length)
        return this.whole({ ...objectOf(data['response']), status })
      }
      case 'response.failed':
        throw failureOf(data['response'])
      case 'error':
        throw streamError(decodeComplaint(data['error'] ?? data))
      default:
        return this.#grow(type, data)
    }
  }

  /** The rest of an answer, from the response with which the provider ends it. */
  whole(response: JsonObject): CanonicalEvent[] {
    if (this.#isEnded) return []
    refuseUnfinished(response)
    const events = this.#start(response)
    const output = listOf(response['output'])
    for (const [output_index, item] of output.entries()) {
      if (!isObject(item)) continue
      for (const event of this.#done({ output_index, item })) events.push(event)
    }
    const rest = [...this.#close({}), ...this.#tellWaiting({ isLast: true })]
    const usage = decodeUsage(response)
    this.#isEnded = true
    return [
      ...events,
      ...rest,
      { type: 'choice-end', choice: 0, reason: this.#reason(response) },
      ...(usage === undefined ? [] : [usageEvent(usage, response['service_tier'])]),
      { type: 'response-end' },
    ]
  }

  #start(response: JsonObject): CanonicalEvent[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    const id = stringOf(response['id']) ?? ''
    return [{ type: 'response-start', id, model: stringOf(response['model']) ?? '' }]
  }

  #add(data: JsonObject): CanonicalEvent[] {
    const events = this.#start({})
    const { item } = data
    if (!isObject(item)) return events
    const index = numberOf(data['output_index']) ?? this.#told.size
    const place = placeOf(item, index)
    if (this.#open !== undefined || this.#waiting.size > 0) {
      const isKnown = this.#isOpen(place, item) || this.#told.has(place)
      if (!isKnown) this.#waiting.set(place, undefined)
      return events
    }
    const decoder = itemDecoder(item, () => this.#blocks++)
    if (decoder === undefined) return events
    this.#open = { index, id: stringOf(item['id']) ?? '', place, decoder }
    return [...events, ...decoder.start()]
  }

  #grow(type: string, data: JsonObject): CanonicalEvent[] {
    if (this.#open === undefined) return []
    const { index, id, decoder } = this.#open
    const isIts = (numberOf(data['output_index']) ?? index) === index || data['item_id'] === id
    return isIts ? decoder.grow(type, data) : []
  }

  #isOpen(place: string, { id }: JsonObject): boolean {
    if (this.#open === undefined) return false
    return this.#open.place === place || (this.#open.id !== '' && this.#open.id === id)
  }

  #done(data: JsonObject): CanonicalEvent[] {
    const index = numberOf(data['output_index']) ?? this.#open?.index ?? this.#told.size
    const item = objectOf(data['item'])
    const place = placeOf(item, index)
    if (this.#isTold(place, item)) return []
    if (isSearchCall(item)) return [...this.#start({}), { type: 'search' }]
    if (this.#isOpen(place, item)) return this.#close(item)
    this.#waiting.set(place, item)
    return this.#open === undefined ? [...this.#start({}), ...this.#tellWaiting()] : []
  }

  /** Some providers renumber items at the end, others change ids in every event; one of the two always stays. */
  #isTold(place: string, item: JsonObject): boolean {
    const id = stringOf(item['id']) ?? ''
    const isTold = this.#told.has(place) || (id !== '' && this.#toldIds.has(id))
    this.#told.add(place)
    this.#toldIds.add(id)
    return isTold
  }

  /** Ends the open item, adding what its pieces lacked, and then sends the items that waited for it. */
  #close(item: JsonObject): CanonicalEvent[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    this.#hasCalled ||= open.decoder.isCall
    return [...open.decoder.end(item), ...this.#tellWaiting()]
  }

  /** Sends the items that are done, up to the first that is not; at the end of the answer, all of them. */
  #tellWaiting({ isLast = false } = {}): CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    for (const [place, item] of this.#waiting) {
      if (item === undefined && !isLast) break
      this.#waiting.delete(place)
      for (const event of item === undefined ? [] : this.#tell(item)) events.push(event)
    }
    return events
  }

  #tell(item: JsonObject): CanonicalEvent[] {
    const decoder = itemDecoder(item, () => this.#blocks++)
    if (decoder === undefined) return []
    this.#hasCalled ||= decoder.isCall
    return [...decoder.start(), ...decoder.end(item)]
  }

  #reason(response: JsonObject): FinishReason {
    const { reason } = objectOf(response['incomplete_details'])
    if (reason === 'content_filter') return 'refusal'
    // Whatever else cut it: an incomplete answer is never reported as complete.
    if (reason === 'max_output_tokens' || response['status'] === 'incomplete') return 'limit'
    return this.#hasCalled ? 'tool-call' : 'stop'
  }
}

/** Some providers count texts and calls separately. */
function placeOf(item: JsonObject, index: number): string {
  return `${typeOf(item)} ${index}`
}

function refuseUnfinished(response: JsonObject): void {
  const { status, output } = response
  if (status === 'failed') throw failureOf(response)
  if (status === 'completed' || status === 'incomplete') return
  // Here too the status may be missing, but without even a list of items it is no answer.
  if (status === undefined && isArray(output)) return
  if (isObject(response['error'])) throw failureOf(response)
  throw new GatewayError('provider_failed', 'the provider ended its answer before it was complete')
}

function failureOf(response: unknown): GatewayError {
  const complaint = decodeComplaint(objectOf(response)['error'])
  // A failed response has no type, only a code. Unless the code is one of these, the provider is at fault.
  const isRequests = REQUEST_FAULT.test(complaint.code ?? '')
  return streamError(isRequests ? { ...complaint, type: 'invalid_request_error' } : complaint)
}

const REQUEST_FAULT = /image|policy|invalid_prompt|context_length/
