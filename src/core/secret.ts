// The secret of an external API key: `tg_live_` + 43 base62 digits of 256 random bits + 6 digits of checksum. A
// personal access token is made the same way, but begins with `tgp_`, and a service token with `tgs_`, so that none can
// be taken for another.
// The checksum lets typing errors and random guesses be refused before any look-up; only the hash is ever stored.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { KEY_MODES, type KeyMode } from './limits.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_DIGITS = 43
const CHECKSUM_DIGITS = 6
const SHAPE = new RegExp(
  `^[a-z][a-z0-9]{0,15}_(${KEY_MODES.join('|')})_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`,
)

const TOKEN_SHAPES = { person: shapeOf('tgp_'), service: shapeOf('tgs_') }

function shapeOf(start: string): RegExp {
  return new RegExp(`^${start}[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`)
}

export function newSecret(mode: KeyMode, prefix = 'tg'): string {
  return randomSecret(`${prefix}_${mode}_`)
}

export function newPersonalToken(): string {
  return randomSecret('tgp_')
}

export function newServiceToken(): string {
  return randomSecret('tgs_')
}

/** Whether this text can be a secret at all: its shape and its checksum are right. Says nothing about existence. */
export function isWellFormedSecret(text: string): boolean {
  return SHAPE.test(text) && hasRightChecksum(text)
}

/** Whose token a text can be by its shape and checksum; undefined = nobody's. */
export function tokenHolder(text: string): keyof typeof TOKEN_SHAPES | undefined {
  if (!hasRightChecksum(text)) return undefined
  if (TOKEN_SHAPES.person.test(text)) return 'person'
  return TOKEN_SHAPES.service.test(text) ? 'service' : undefined
}

/** What is stored and looked up in place of the secret. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** How a secret is shown after its only full display: enough to tell two apart, useless to anyone else. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.lastIndexOf('_') + 1)}…${secret.slice(-4)}`
}

/** The masks of secrets with this ending: what to search for when only the last characters are known. */
export function masksOf(ending: string, prefix: string): readonly string[] {
  if (!/[0-9A-Za-z]{4}$/.test(ending)) return []
  return KEY_MODES.map((mode) => maskSecret(`${prefix}_${mode}_${ending.slice(-4)}`))
}

function randomSecret(start: string): string {
  const number = BigInt(`0x${randomBytes(32).toString('hex')}`)
  const body = start + base62(number, RANDOM_DIGITS)
  return body + checksum(body)
}

function hasRightChecksum(text: string): boolean {
  return checksum(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS)
}

/** In numbers, not in bigints as below: this is computed for every request. */
function checksum(text: string): string {
  let digits = ''
  let rest = crc32(text)
  for (let index = 0; index < CHECKSUM_DIGITS; index++) {
    digits = DIGITS[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function base62(number: bigint, length: number): string {
  let digits = ''
  let rest = number
  for (let index = 0; index < length; index++) {
    digits = DIGITS[Number(rest % 62n)] + digits
    rest /= 62n
  }
  return digits
}
