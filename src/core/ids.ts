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
  | 'entry'

export function newId(prefix: IdPrefix, clock: Clock): string {
  let digits = timeDigits(clock.now())
  for (const byte of randomBytes(RANDOM_DIGITS)) digits += ALPHABET[byte & 31]
  return `${prefix}_${digits}`
}

/** Not after any id that was made at this moment or later: where a range of ids begins. */
export function firstIdAt(prefix: IdPrefix, at: number): string {
  return `${prefix}_${timeDigits(at)}`
}

function timeDigits(at: number): string {
  let time = at
  let digits = ''
  for (let index = 0; index < TIME_DIGITS; index++) {
    digits = ALPHABET[time % 32] + digits
    time = Math.floor(time / 32)
  }
  return digits
}
