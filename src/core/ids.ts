// Identifiers: a prefix that says what it names, then 26 characters that sort by time.
import { randomBytes } from 'node:crypto'

import type { Clock } from './clock.ts'

/** Crockford's alphabet in lower case: no letter can be read as another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 10
const RANDOM_DIGITS = 16

export type IdPrefix =
  | 'key'
  | 'req'
  | 'resp'
  | 'msg'
  | 'rs'
  | 'fc'
  | 'ctc'
  | 'call'
  | 'chatcmpl'
  | 'toolu'
  | 'node'

export function newId(prefix: IdPrefix, clock: Clock): string {
  let time = clock.now()
  let digits = ''
  for (let index = 0; index < TIME_DIGITS; index++) {
    digits = ALPHABET[time % 32] + digits
    time = Math.floor(time / 32)
  }
  for (const byte of randomBytes(RANDOM_DIGITS)) digits += ALPHABET[byte & 31]
  return `${prefix}_${digits}`
}
