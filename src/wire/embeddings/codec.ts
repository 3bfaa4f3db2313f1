// The embeddings codec. The limits belong to the format and apply to every provider, so they are checked before anything
// is held. Nothing is streamed: each vector is one event, and the last event ends the answer.
import assert from 'node:assert/strict'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import {
  defined,
  isArray,
  isObject,
  listOf,
  numberOf,
  objectOf,
  stringOf,
} from '../../core/json.ts'
import type { Call, CanonicalRequest, EmbeddingRequest } from '../../core/request.ts'
import { embeddingAnswer, neverStreamed, noVector } from '../content/answer.ts'
import type { AnswerContext, Codec, JsonAnswer } from '../contract/codec.ts'
import { decodeComplaint, decodeErrorBody, streamError } from '../contract/errors.ts'
import {
  affinityBy,
  countOf,
  droppedFields,
  fieldTable,
  modelOf,
  refuseFields,
  streamOf,
} from '../contract/fields.ts'
import { Measure } from '../contract/measure.ts'
import { rewriteMembers, setMembers } from '../json/body.ts'
import { expect, optional } from '../json/expect.ts'

export const embeddingsCodec: Codec = {
  format: 'embeddings',
  family: 'chat',
  losses: {},
  readCall,
  affinityOf,
  decodeRequest,
  encodeRequest,
  encodeResponse,
  decodeResponse,
  decodeError: decodeErrorBody,
  forwardRequest: (body, { model, adapt }) => rewriteMembers(body, () => ({ model }), adapt),
  forwardResponse,
  encodeEvents: neverStreamed,
  decodeEvents: neverStreamed,
  forwardEvents: neverStreamed,
}

/** Every known field, and what translation does with it. */
export const EMBEDDING_FIELDS = fieldTable({
  read: 'model input dimensions encoding_format',
  drop: { user: 'there is no field for it; it is kept in the usage record' },
})

type Input = EmbeddingRequest['inputs'][number]

const INPUTS_MAX = 2048
const ENCODINGS = ['float', 'base64'] as const

function readCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  if (streamOf(body)) throw invalidRequest('stream', 'embeddings cannot be streamed')
  refuseFields(body, EMBEDDING_FIELDS)
  encodingOf(body)
  countOf(body, 'dimensions', 1)
  measure.unknownFields(body, EMBEDDING_FIELDS)
  const inputs = decodeInputs(body['input'])
  for (const input of inputs) {
    measure.item()
    if (typeof input === 'string') measure.text(input)
    else measure.tokens(input.length)
  }
  const endUser = stringOf(body['user'])
  return {
    model,
    stream: false,
    input: measure.sum,
    output: { choices: 1, reasons: false },
    needs: [],
    dropped: [],
    ...(endUser !== undefined && { endUser }),
  }
}

/** Embeddings have no conversation. The same text goes to the same target. */
function affinityOf(body: JsonObject): string {
  return affinityBy(undefined, undefined, String(decodeInputs(body['input'])[0]))
}

function decodeRequest(body: JsonObject): EmbeddingRequest {
  return {
    kind: 'embedding',
    model: modelOf(body),
    dropped: droppedFields(body, EMBEDDING_FIELDS),
    inputs: decodeInputs(body['input']),
    encoding: encodingOf(body),
    ...defined({ dimensions: countOf(body, 'dimensions', 1) }),
  }
}

function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'embedding')
  const { model, inputs: input, dimensions, encoding } = request
  return defined({ model, input, encoding_format: encoding, dimensions })
}

/** The encoding in which the client wants its vectors; float by default. */
function encodingOf(body: JsonObject): EmbeddingRequest['encoding'] {
  return optional(body['encoding_format'], 'encoding_format', expect.oneOf(ENCODINGS)) ?? 'float'
}

/** One text, many texts, one list of token numbers, or many such lists. */
function decodeInputs(input: Json | undefined): readonly Input[] {
  if (typeof input === 'string') return [expectInput(input, 'input')]
  if (!isArray(input) || input.length === 0) {
    throw invalidRequest('input', 'input must be a string, a list of strings, or token numbers')
  }
  // A flat list of numbers is one text already split into tokens, not many texts.
  if (typeof input[0] === 'number') return [expectInput(input, 'input')]
  if (input.length > INPUTS_MAX) {
    throw invalidRequest(
      'input',
      `input has ${input.length} entries; at most ${INPUTS_MAX} are allowed`,
    )
  }
  return input.map((entry, index) => expectInput(entry, `input[${index}]`))
}

function expectInput(value: Json, place: string): Input {
  if (typeof value === 'string' && value !== '') return value
  if (isArray(value) && value.length > 0 && value.every(isToken)) return value
  throw invalidRequest(place, `${place} must be a non-empty string or list of token numbers`)
}

function isToken(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function decodeResponse(body: JsonObject): readonly CanonicalEvent[] {
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

function encodeResponse(events: readonly CanonicalEvent[], answer: AnswerContext): JsonObject {
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
function forwardResponse({ text, value }: JsonAnswer, answer: AnswerContext): string {
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
