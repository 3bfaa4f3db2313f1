// Identifiers: a prefix that says what it names, a mark, then 26 characters that sort by time.
import { randomBytes } from 'node:crypto'

import type { Clock } from './clock.ts'

/** Crockford's alphabet in lower case: no letter can be read as another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 10
const TIME_MAX = 32 ** TIME_DIGITS - 1
const RANDOM_DIGITS = 16

export type IdPrefix =
  | 'key'
  | 'grp'
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
  | 'alert'
  | 'dest'
  | 'dlv'
  | 'person'
  | 'role'
  | 'token'
  | 'session'
  | 'wish'

export function newId(prefix: IdPrefix, clock: Clock): string {
  return `${prefix}${markAfter(prefix)}${timeDigits(clock.now())}${randomDigits()}`
}

/** Whether an account is that of a group of keys. */
export function isGroupId(id: string): boolean {
  return id.startsWith('grp_')
}

/** Clients know the ids of chat completions by the form that OpenAI gives them, `chatcmpl-…`. */
function markAfter(prefix: IdPrefix): string {
  return prefix === 'chatcmpl' ? '-' : '_'
}

/** Sorts before every id made at this moment or later: where a range of ids begins. Takes any moment a date can be. */
export function firstIdAt(prefix: IdPrefix, at: number): string {
  return `${prefix}${markAfter(prefix)}${timeDigits(at)}`
}

// Asking the system for randomness takes longer than everything else about an id, so it is done for many ids at once.
const IDS_AT_ONCE = 256
let supply = ''
let supplyUsed = 0

function randomDigits(): string {
  if (supplyUsed === supply.length) {
    const bytes = randomBytes(IDS_AT_ONCE * RANDOM_DIGITS)
    // Not by `entries`, which makes an object for each byte: more than everything else about an id.
    bytes.forEach((byte, index) => (bytes[index] = ALPHABET.charCodeAt(byte & 31)))
    supply = bytes.toString('latin1')
    supplyUsed = 0
  }
  supplyUsed += RANDOM_DIGITS
  return supply.slice(supplyUsed - RANDOM_DIGITS, supplyUsed)
}

// Remembered, because many ids are made within a millisecond.
let lastAt = -1
let lastTimeDigits = ''

function timeDigits(at: number): string {
  if (at === lastAt) return lastTimeDigits
  let time = Math.min(Math.max(at, 0), TIME_MAX)
  let digits = ''
  for (let index = 0; index < TIME_DIGITS; index++) {
    digits = ALPHABET[time % 32] + digits
    time = Math.floor(time / 32)
  }
  lastAt = at
  lastTimeDigits = digits
  return digits
}
