// An embeddings answer, decoded and encoded. Never streamed: each vector is one event, and the last event ends it.
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, numberOf, objectOf, stringOf } from '../../core/json.ts'
import { embeddingAnswer, noVector } from '../content/answer.ts'
import type { AnswerContext, JsonAnswer } from '../contract/codec.ts'
import { decodeComplaint, streamError } from '../contract/errors.ts'
import { setMembers } from '../json/text.ts'
import { decodeInputs, encodingOf } from './request.ts'

export function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
  if (isObject(body['error'])) throw streamError(decodeComplaint(body['error']))
  const { data, usage } = body
  const { prompt_tokens: prompt, total_tokens: total } = objectOf(usage)
  return embeddingAnswer(listOf(data).map(decodeEmbedding), {
    model: stringOf(body['model']) ?? '',
    inputTokens: numberOf(prompt) ?? numberOf(total),
  })
}

function decodeEmbedding(entry: Json, position: number): CanonicalEvent {
  const vector = isObject(entry) ? decodeVector(entry['embedding']) : undefined
  if (!isObject(entry) || vector === undefined) throw noVector()
  return { type: 'embedding', index: numberOf(entry['index']) ?? position, vector }
}

export function encodeResponse(
  events: readonly CanonicalEvent[],
  answer: AnswerContext,
): JsonObject {
  const encoding = encodingOf(answer.body)
  const data: JsonObject[] = []
  let tokens = 0
  for (const event of events) {
    if (event.type === 'usage') tokens = event.usage.inputTokens
    if (event.type !== 'embedding') continue
    const { index, vector } = event
    data.push({ object: 'embedding', index, embedding: encodeVector(vector, encoding) })
  }
  refuseMiscount(data.length, answer)
  return {
    object: 'list',
    data,
    model: answer.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** Changes only the model name, and the encoding if it is not the requested one: not every provider supports both. */
export function forwardResponse({ text, value }: JsonAnswer, answer: AnswerContext): string {
  const encoding = encodingOf(answer.body)
  const { data } = value
  refuseMiscount(listOf(data).length, answer)
  const isWanted = (entry: Json): boolean =>
    !isObject(entry) || isArray(entry['embedding']) === (encoding === 'float')
  if (!isArray(data) || data.every(isWanted)) return setMembers(text, { model: answer.model })
  const converted = data.map((entry) => {
    const vector = isObject(entry) ? decodeVector(entry['embedding']) : undefined
    if (!isObject(entry) || vector === undefined) return entry
    return { ...entry, embedding: encodeVector(vector, encoding) }
  })
  return setMembers(text, { model: answer.model, data: converted })
}

/** Clients match vectors to their texts by position: if one is missing, others are taken for it. */
function refuseMiscount(vectors: number, { body }: AnswerContext): void {
  const inputs = decodeInputs(body['input']).length
  if (vectors === inputs) return
  const counts = `inputs: ${inputs}, vectors: ${vectors}`
  throw new GatewayError(
    'provider_failed',
    `the provider sent too few or too many vectors (${counts})`,
  )
}

const FLOAT_BYTES = 4

/** Numbers, or base64 of 32-bit little-endian floats. */
export function encodeVector(vector: readonly number[], encoding: 'float' | 'base64'): Json {
  if (encoding === 'float') return vector
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES)
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * FLOAT_BYTES))
  return bytes.toString('base64')
}

/** Decodes either encoding, whichever was requested; undefined when the value is not a vector. */
export function decodeVector(value: Json | undefined): readonly number[] | undefined {
  if (isArray(value)) {
    return value.every((each) => typeof each === 'number') ? value : undefined
  }
  if (typeof value !== 'string') return undefined
  const bytes = Buffer.from(value, 'base64')
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return undefined
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  )
}
