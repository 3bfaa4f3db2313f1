// A vector on the wire: numbers, or base64 of 32-bit little-endian floats.
import type { Json } from '../../core/json.ts'
import { isArray } from '../../core/json.ts'

const FLOAT_BYTES = 4

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
