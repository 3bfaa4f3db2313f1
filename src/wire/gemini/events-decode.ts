// Answers of generateContent as canonical events. Every event of a stream is a complete JSON answer with the next
// pieces. There is no end marker: the answer is complete when its candidate reports a finish reason.
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isGiven, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { readJsonEvent } from '../answer-json.ts'
import { Choices } from '../choices.ts'
import { exactly } from '../exact-json.ts'
import { streamError, unusableAnswer } from '../provider-errors.ts'
import type { SseEvent } from '../sse.ts'
import { CandidateDecoder } from './candidate-decode.ts'
import { decodeError } from './error-decode.ts'
import { decodeUsage } from './usage.ts'

export function decodeEvents(): (event: SseEvent) => readonly CanonicalEvent[] {
  const answer = new AnswerDecoder()
  return (event) =>
    event.data === '' ? [{ type: 'ping' }] : answer.add(exactly(event.data, readJsonEvent(event)))
}

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  return new AnswerDecoder().add(body)
}

class AnswerDecoder {
  readonly #candidates = new Choices((index) => new CandidateDecoder(index))
  #isStarted = false
  #isEnded = false

  add(chunk: JsonObject): readonly CanonicalEvent[] {
    if (isObject(chunk['error'])) throw streamError(decodeError(chunk))
    if (this.#isEnded) return []
    const { candidates, usageMetadata, promptFeedback } = chunk
    const isFirst = !this.#isStarted
    const events = this.#start(chunk)
    const usage = isObject(usageMetadata) ? decodeUsage(usageMetadata) : undefined
    const told: readonly CanonicalEvent[] = usage === undefined ? [] : [{ type: 'usage', usage }]
    // Before the first words as well: some clients are told the input at the beginning.
    const isWhole = listOf(candidates).some((each) => isGiven(objectOf(each)['finishReason']))
    if (isFirst && !isWhole) events.push(...told)
    for (const candidate of listOf(candidates)) {
      if (!isObject(candidate)) continue
      const decoder = this.#candidates.at(candidate['index'])
      for (const event of decoder.add(candidate)) events.push(event)
    }
    events.push(...told)
    this.#refuseUnusable(usage)
    const refusal = this.#candidates.isEmpty ? decodeRefusal(promptFeedback) : undefined
    if (refusal !== undefined) events.push(refusal)
    this.#isEnded = refusal !== undefined || this.#candidates.haveEnded
    return this.#isEnded ? [...events, { type: 'response-end' }] : events
  }

  #start({ responseId, modelVersion }: JsonObject): CanonicalEvent[] {
    if (this.#isStarted) return []
    this.#isStarted = true
    const id = stringOf(responseId) ?? ''
    return [{ type: 'response-start', id, model: stringOf(modelVersion) ?? '' }]
  }

  #refuseUnusable(usage: Usage | undefined): void {
    for (const { unusable } of this.#candidates.all) {
      if (unusable !== undefined) throw unusableAnswer(unusable, usage)
    }
  }
}

/** A blocked prompt has no candidates, only the reason why it was blocked. */
function decodeRefusal(promptFeedback: Json | undefined): CanonicalEvent | undefined {
  const { blockReason, blockReasonMessage } = objectOf(promptFeedback)
  const blocked = stringOf(blockReason)
  if (blocked === undefined) return undefined
  const explanation = stringOf(blockReasonMessage) ?? blocked
  return { type: 'choice-end', choice: 0, reason: 'refusal', explanation }
}
