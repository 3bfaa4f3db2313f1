// A provider's chat completions answer as canonical events. Tolerates what compatible providers get wrong (missing
// roles or indexes, usage sent twice), but an answer is complete only with its final marker: `[DONE]`, or the
// usage-only chunk before it, after which some providers just close the connection.
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { readJsonEvent } from '../answer-json.ts'
import { Choices } from '../choices.ts'
import { decodeComplaint, streamError, withoutContent } from '../provider-errors.ts'
import { findString } from '../json-text.ts'
import type { Changing } from '../refrain.ts'
import { withRefrain } from '../refrain.ts'
import type { SseEvent } from '../sse.ts'
import { ChoiceDecoder } from './choice-decode.ts'
import { decodeUsage } from './usage.ts'
import { usageEvent } from '../counts.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return withRefrain(findChanging, (event) => {
    // A comment: the provider is alive but has nothing to send.
    if (event.data === '') return [{ type: 'ping' }]
    if (event.data.trim() === '[DONE]') return answer.end()
    const chunk = readJsonEvent(event)
    refuseError(event.event === 'error' ? (chunk['error'] ?? chunk) : chunk['error'])
    return answer.add(chunk)
  })
}

/** Nearly all chunks differ only in their text, and in the padding that some providers add to hide its length. */
function findChanging(data: string): Changing | undefined {
  const text = findString(data, ['choices', 'delta', 'content'])
  return text && { text, padding: findString(data, ['obfuscation']) }
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  refuseError(body['error'])
  const choices = listOf(body['choices'])
  const answer = new AnswerDecoder()
  return [
    ...answer.add({ ...body, choices: choices.map((choice) => asChunk(choice)) }),
    ...answer.end(),
  ]
}

class AnswerDecoder {
  readonly #choices = new Choices((index) => new ChoiceDecoder(index))
  #isStarted = false
  #isEnded = false

  add(chunk: JsonObject): readonly CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    if (this.#isEnded) return events
    const isFirst = !this.#isStarted
    if (isFirst) {
      this.#isStarted = true
      const id = stringOf(chunk['id']) ?? ''
      events.push({ type: 'response-start', id, model: stringOf(chunk['model']) ?? '' })
    }
    const { choices, usage } = chunk
    const counted = isObject(usage) ? decodeUsage(usage) : undefined
    const told = counted === undefined ? [] : [usageEvent(counted, chunk['service_tier'])]
    // Before the first words as well: some clients are told the input at the beginning.
    if (isFirst && isArray(choices) && !choices.some(isLast)) events.push(...told)
    if (isArray(choices)) {
      for (const choice of choices) {
        // One by one, here and in the other formats: a call takes only so many arguments.
        if (isObject(choice)) for (const event of this.#addChoice(choice)) events.push(event)
      }
    }
    events.push(...told)
    if (counted === undefined) return events
    return isArray(choices) && choices.length === 0 && this.#choices.haveEnded
      ? [...events, ...this.end()]
      : events
  }

  #addChoice(choice: JsonObject): readonly CanonicalEvent[] {
    const decoder = this.#choices.at(choice['index'])
    if (decoder.isEnded) return []
    const { delta, logprobs, finish_reason: reason, stop_reason, matched_stop } = choice
    const events = isObject(delta) ? decoder.add(delta, logprobs) : []
    if (!isLast(choice)) return events
    // vLLM and SGLang name the stop sequence that was met, or number the token.
    const stopSequence = stringOf(stop_reason) ?? stringOf(matched_stop)
    return [...events, ...decoder.end(reason, stopSequence)]
  }

  end(): readonly CanonicalEvent[] {
    if (this.#isEnded) return []
    this.#isEnded = true
    if (this.#choices.isEmpty) throw withoutContent()
    const ends = this.#choices.all.flatMap((choice) => choice.end('stop'))
    return [...ends, { type: 'response-end' }]
  }
}

/** Whether this is the end of a choice: some providers send an empty reason before that. */
function isLast(choice: Json): boolean {
  const { finish_reason: reason } = objectOf(choice)
  return typeof reason === 'string' && reason !== ''
}

/** A whole choice as the single chunk of a stream: the message becomes the delta, and its calls are numbered. */
function asChunk(choice: Json): Json {
  if (!isObject(choice) || !isObject(choice['message'])) return choice
  const { message } = choice
  const calls = message['tool_calls']
  if (!isArray(calls)) return { ...choice, delta: message }
  const numbered = calls.map((call, index) => (isObject(call) ? { ...call, index } : call))
  return { ...choice, delta: { ...message, tool_calls: numbered } }
}

function refuseError(error: Json | undefined): void {
  if (isGiven(error)) throw streamError(decodeComplaint(error))
}
