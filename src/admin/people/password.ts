// How passwords are stored: argon2id with the parameters that OWASP recommends, in the usual text form, which carries
// its parameters so that they can be raised later. Also the rules for new passwords.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { sentence, type Sentence } from '../../core/sentences.ts'
import { normalEmail } from '../../store/people/people.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../contract/sign-in.ts'

const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await derive(password, { ...PARAMETERS, salt, tagBytes: TAG_BYTES })
  const { memory, passes, parallelism } = PARAMETERS
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash)
  if (match === null) return false
  const [, memory, passes, parallelism, salt = '', tag = ''] = match
  const expected = Buffer.from(tag, 'base64')
  const actual = await derive(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tagBytes: expected.length,
  })
  return timingSafeEqual(actual, expected)
}

/** What is wrong with a new password; undefined if it is acceptable. Length matters, not classes of characters. */
export function passwordProblem(password: string, email: string): Sentence | undefined {
  const length = [...password].length
  if (length < PASSWORD_LENGTH_MIN)
    return sentence('password_short', { least: PASSWORD_LENGTH_MIN })
  if (length > PASSWORD_LENGTH_MAX) return sentence('password_long', { most: PASSWORD_LENGTH_MAX })
  if (new Set(password).size < DIFFERENT_MIN) return sentence('password_monotonous')
  if (normalEmail(password) === normalEmail(email)) return sentence('password_is_address')
  return undefined
}

const DIFFERENT_MIN = 5

type Derivation = typeof PARAMETERS & { readonly salt: Uint8Array; readonly tagBytes: number }

/** Normalized, because the same letters can be typed as different bytes. */
function derive(password: string, { salt, tagBytes, ...rest }: Derivation): Promise<Buffer> {
  const message = password.normalize('NFKC')
  return argon2Async('argon2id', { ...rest, message, nonce: salt, tagLength: tagBytes })
}

const argon2Async = promisify(argon2)

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}
