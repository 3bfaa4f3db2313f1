// Embeddings of the sandbox: texts as unit vectors. Each word, and each run of three letters in it, pushes the vector in
// its own direction, so texts that share words, or parts of words, point the same way; the same text always gives the
// same vector.
import { invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { EmbeddingRequest } from '../../core/request.ts'
import { contextOf } from './models.ts'
import type { Script } from './script.ts'
import { assertRoom, countSandboxInput, tokensOfEmbedded } from './tokens.ts'

export const DIMENSIONS = 1536
const DIMENSIONS_MAX = 4096
/** As many texts as a request may have, in vectors of the usual length. */
const NUMBERS_MAX = 2048 * DIMENSIONS
/** For all inputs together, about as much as real providers accept. */
const TOKENS_MAX = 300_000

export function answerEmbedding(
  request: EmbeddingRequest,
  script: Script,
): Iterable<CanonicalEvent> {
  const { model, inputs, dimensions = DIMENSIONS } = request
  for (const input of inputs) assertRoom(tokensOfEmbedded(input), contextOf(model))
  assertRoom(countSandboxInput(request), TOKENS_MAX)
  if (dimensions > DIMENSIONS_MAX) {
    throw invalidRequest('dimensions', `dimensions must be at most ${DIMENSIONS_MAX}`)
  }
  if (dimensions * inputs.length > NUMBERS_MAX) {
    throw invalidRequest(
      'input',
      `${inputs.length} vectors of ${dimensions} dimensions are more than the sandbox writes at once: send fewer texts, or ask for fewer dimensions`,
    )
  }
  return eventsOf(request, script, dimensions)
}

function* eventsOf(
  request: EmbeddingRequest,
  script: Script,
  dimensions: number,
): Generator<CanonicalEvent> {
  yield { type: 'response-start', id: 'sandbox', model: request.model }
  for (const [index, input] of request.inputs.entries()) {
    yield { type: 'embedding', index, vector: embed(input, dimensions) }
  }
  const usage = { ...NO_USAGE, inputTokens: countSandboxInput(request) }
  if (script.usage !== 'none') yield { type: 'usage', usage }
  yield { type: 'response-end' }
}

export function embed(input: string | readonly number[], dimensions: number): readonly number[] {
  const sums = new Float64Array(dimensions)
  // Even an empty text must have a direction, and pushes must not cancel out to zero.
  sums[0] = 0.01
  if (typeof input === 'string') pushText(sums, input)
  else pushTokens(sums, input)
  return unit(sums)
}

/** As precise as vectors need to be; in full, each number would be three times as long in JSON. */
const PRECISION = 1_000_000

/** Loops by index: a request may ask for two thousand vectors, and iterators would take half a second. */
function unit(sums: Float64Array): readonly number[] {
  let square = 0
  for (let index = 0; index < sums.length; index++) square += (sums[index] ?? 0) ** 2
  const length = Math.sqrt(square)
  const vector: number[] = []
  for (let index = 0; index < sums.length; index++) {
    vector.push(Math.round(((sums[index] ?? 0) / length) * PRECISION) / PRECISION)
  }
  return vector
}

/** One character may stand for eighteen: what an input can hold is enough. */
const CHARACTERS_MAX = 600_000

function pushText(sums: Float64Array, text: string): void {
  for (const [word] of text
    .normalize('NFKC')
    .slice(0, CHARACTERS_MAX)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    const letters = `<${word}>`
    push(sums, hashOf(letters, 0, letters.length), 1)
    for (let start = 0; start + 3 <= letters.length; start++) {
      push(sums, hashOf(letters, start, start + 3), 0.5)
    }
  }
}

function pushTokens(sums: Float64Array, tokens: readonly number[]): void {
  for (const token of tokens) push(sums, Math.imul(token + 1, GOLDEN), 1)
}

/** Each feature moves a few coordinates, up or down, so that features rarely hide each other. */
const COORDINATES = 4
/** An odd number without a pattern: its multiples spread over all bits. */
const GOLDEN = 0x9e3779b1

function push(sums: Float64Array, feature: number, weight: number): void {
  for (let index = 1; index <= COORDINATES; index++) {
    const hash = stirred(feature + Math.imul(index, GOLDEN))
    const coordinate = (hash >>> 1) % sums.length
    sums[coordinate] = (sums[coordinate] ?? 0) + (hash & 1 ? weight : -weight)
  }
}

/** FNV-1a over a part of a text. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let index = start; index < end; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash
}

function stirred(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x7feb352d)
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b)
  return (twice ^ (twice >>> 16)) >>> 0
}
