// One candidate of a generateContent answer as canonical blocks. Only texts arrive in pieces; every other part is
// whole. Signatures become seals of empty thoughts, so that clients of every format carry them back.
import type { CanonicalEvent, FinishReason } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import type { Seal } from '../../core/request.ts'
import { callIdOf } from '../call-ids.ts'
import { calledName } from '../tool-name.ts'
import { Citations } from './citations.ts'

export class CandidateDecoder {
  readonly #choice: number
  readonly #citations = new Citations()
  #events: CanonicalEvent[] = []
  #block = -1
  #open: 'text' | 'thinking' | undefined
  #hasCalled = false
  isEnded = false
  /** Why the answer cannot be used; undefined = it can. */
  unusable: string | undefined

  constructor(choice: number) {
    this.#choice = choice
  }

  add(candidate: JsonObject): readonly CanonicalEvent[] {
    const { content, finishReason, citationMetadata } = candidate
    this.#citations.beginPiece(citationMetadata)
    for (const part of listOf(objectOf(content)['parts'])) if (isObject(part)) this.#addPart(part)
    this.#cite()
    if (typeof finishReason === 'string') this.#end(finishReason, candidate['finishMessage'])
    const events = this.#events
    this.#events = []
    return events
  }

  #addPart(part: JsonObject): void {
    const { text, thought, functionCall } = part
    const signature = stringOf(part['thoughtSignature'])
    if (isObject(functionCall)) {
      if (signature !== undefined) this.#seal({ ...SEAL, value: signature })
      this.#call(functionCall)
      return
    }
    if (typeof text === 'string' && text !== '') this.#prose(thought ? 'thinking' : 'text', text)
    if (signature !== undefined) this.#seal({ ...SEAL, value: signature, id: 'text' })
  }

  #prose(kind: 'text' | 'thinking', text: string): void {
    if (this.#open !== kind) {
      this.#close()
      this.#open = kind
      this.#events.push({ type: `${kind}-start`, ...this.#nextPlace() })
      if (kind === 'text') this.#citations.beginBlock()
    }
    if (kind === 'text') this.#citations.say(text)
    this.#events.push({ type: `${kind}-delta`, ...this.#place(), text })
  }

  #cite(): void {
    if (this.#open !== 'text') return
    for (const citation of this.#citations.take()) {
      this.#events.push({ type: 'text-citation', ...this.#place(), citation })
    }
  }

  #seal(seal: Seal): void {
    this.#close()
    this.#events.push(
      { type: 'thinking-start', ...this.#nextPlace() },
      { type: 'thinking-end', ...this.#place(), seal },
    )
  }

  #call({ id, name, args }: JsonObject): void {
    this.#close()
    this.#hasCalled = true
    this.#events.push(
      {
        type: 'tool-call-start',
        ...this.#nextPlace(),
        id: callIdOf(id),
        name: calledName(name),
        custom: false,
      },
      { type: 'tool-call-delta', ...this.#place(), text: JSON.stringify(args ?? {}) },
      { type: 'tool-call-end', ...this.#place() },
    )
  }

  #end(reason: string, message: unknown): void {
    this.#close()
    if (this.#citations.take().length > 0) this.#events.push({ type: 'citations-lost' })
    this.isEnded = true
    if (UNUSABLE.has(reason)) {
      this.unusable = reason
      return
    }
    // New reasons appear now and then. Whatever one means, the model has finished.
    const finish = FINISH_REASONS.get(reason) ?? 'stop'
    const explanation = stringOf(message)
    this.#events.push({
      type: 'choice-end',
      choice: this.#choice,
      reason: finish === 'stop' && this.#hasCalled ? 'tool-call' : finish,
      ...(finish === 'refusal' ? { explanation: explanation ?? reason } : {}),
    })
  }

  #close(): void {
    if (this.#open === undefined) return
    this.#cite()
    this.#events.push({ type: `${this.#open}-end`, ...this.#place() })
    this.#open = undefined
  }

  #place() {
    return { choice: this.#choice, block: this.#block }
  }

  #nextPlace() {
    this.#block += 1
    return this.#place()
  }
}

const SEAL = { format: 'gemini', kind: 'signature' } as const

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'limit'],
  // The answer could be continued with a token that no other format has.
  ['CONTINUATION', 'limit'],
  ['SAFETY', 'refusal'],
  ['RECITATION', 'refusal'],
  ['LANGUAGE', 'refusal'],
  ['BLOCKLIST', 'refusal'],
  ['PROHIBITED_CONTENT', 'refusal'],
  ['SPII', 'refusal'],
  ['IMAGE_SAFETY', 'refusal'],
  ['IMAGE_PROHIBITED_CONTENT', 'refusal'],
  ['IMAGE_RECITATION', 'refusal'],
])

const UNUSABLE: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'OTHER',
])
