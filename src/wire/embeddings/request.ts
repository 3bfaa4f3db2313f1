// An embeddings request, decoded and encoded, and what admission must know about it. The limits belong to the format
// and apply to every provider, so they are checked before anything is held.
import assert from 'node:assert/strict'
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, stringOf } from '../../core/json.ts'
import type { Call, CanonicalRequest, EmbeddingRequest } from '../../core/request.ts'
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
import { expect, optional } from '../json/expect.ts'

/** Every known field, and what translation does with it. */
export const EMBEDDING_FIELDS = fieldTable({
  read: 'model input dimensions encoding_format',
  drop: { user: 'there is no field for it; it is kept in the usage record' },
})

type Input = EmbeddingRequest['inputs'][number]

const INPUTS_MAX = 2048
const ENCODINGS = ['float', 'base64'] as const

export function readCall(body: JsonObject, measure = new Measure()): Call {
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
export function affinityOf(body: JsonObject): string {
  return affinityBy(undefined, undefined, String(decodeInputs(body['input'])[0]))
}

export function decodeRequest(body: JsonObject): EmbeddingRequest {
  return {
    kind: 'embedding',
    model: modelOf(body),
    dropped: droppedFields(body, EMBEDDING_FIELDS),
    inputs: decodeInputs(body['input']),
    encoding: encodingOf(body),
    ...defined({ dimensions: countOf(body, 'dimensions', 1) }),
  }
}

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'embedding')
  const { model, inputs: input, dimensions, encoding } = request
  return defined({ model, input, encoding_format: encoding, dimensions })
}

/** The encoding in which the client wants its vectors; float by default. */
export function encodingOf(body: JsonObject): EmbeddingRequest['encoding'] {
  return optional(body['encoding_format'], 'encoding_format', expect.oneOf(ENCODINGS)) ?? 'float'
}

/** One text, many texts, one list of token numbers, or many such lists. */
export function decodeInputs(input: Json | undefined): readonly Input[] {
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
