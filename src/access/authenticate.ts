// From a request's headers to the calling key, or a 401 that names what is wrong. Reads only the header that the
// endpoint's family uses, unless the operator allows either; other credentials are ignored.
import type { Clock } from '../core/clock.ts'
import type { AuthHeaders, Family } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { hashSecret, isWellFormedSecret } from '../core/secret.ts'
import type { Caller } from './caller.ts'
import { expiredKey, pausedKey, revokedKey } from './unusable.ts'

export type Authenticator = {
  readonly clock: Clock
  /** As configured now (`auth.headers`). */
  headers(): AuthHeaders
  findBySecretHash(hash: string): Promise<Caller | undefined> | Caller
  /** Drops what was found before, which may be out of date. */
  forget(): void
}

export type Credentials = {
  readonly family: Family
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
}

export async function authenticate(
  authenticator: Authenticator,
  credentials: Credentials,
  trace: { keyId?: string },
): Promise<Caller> {
  const secret = secretOf(credentials, authenticator.headers())
  // The checksum refuses typing errors and guesses before anything is looked up.
  if (!isWellFormedSecret(secret)) throw secret.startsWith('tgp_') ? personalToken() : unknownKey()
  const caller = await authenticator.findBySecretHash(hashSecret(secret))
  const now = authenticator.clock.now()
  const isOver = (caller?.secretValidUntil ?? Infinity) <= now
  if (caller === undefined || isOver) throw unknownKey()
  // Also for a refused key: its id in the log helps to find out why.
  trace.keyId = caller.keyId
  assertUsable(caller, now)
  return caller
}

/** If a key exists but may not be used, the error says why: its owner must know what to do. */
function assertUsable(caller: Caller, now: number): void {
  if (caller.status === 'revoked') throw revokedKey()
  if (caller.expiresAt !== null && caller.expiresAt <= now) throw expiredKey()
  if (caller.status === 'paused') throw pausedKey()
}

const BEARER = 'Authorization: Bearer <API_KEY>'
const API_KEY = 'x-api-key: <API_KEY>'

function secretOf(credentials: Credentials, headers: AuthHeaders): string {
  const isMessages = credentials.family === 'messages'
  const own = isMessages ? apiKeyOf(credentials) : bearerOf(credentials)
  if (headers === 'strict') {
    if (own !== undefined) return own
    throw wrongHeader([isMessages ? API_KEY : BEARER])
  }
  const other = isMessages ? bearerOf(credentials) : apiKeyOf(credentials)
  const [key, another] = new Set([own, other].filter(isKey))
  if (another !== undefined) throw twoKeys()
  // If neither can be a key, the refusal is about what the client most likely meant as one.
  const found = key ?? own ?? other
  if (found !== undefined) return found
  throw wrongHeader(isMessages ? [API_KEY, BEARER] : [BEARER, API_KEY])
}

function isKey(value: string | undefined): value is string {
  return value !== undefined && isWellFormedSecret(value)
}

function bearerOf({ authorization = '' }: Credentials): string | undefined {
  // Other schemes separate their parameters by commas.
  if (!/(?:^|,)\s*bearer /i.test(authorization)) return undefined
  const match = /^bearer +(\S+)$/i.exec(valueOf('Authorization', authorization))
  return match?.[1]
}

function apiKeyOf({ apiKey }: Credentials): string | undefined {
  const value = valueOf('x-api-key', apiKey)
  return value === '' ? undefined : value
}

/** A header that is sent again arrives as a list. Anthropic's Python library before 1.0 repeats a default header. */
function valueOf(name: string, header = ''): string {
  const [value = '', ...again] = header.split(',').map((each) => each.trim())
  if (again.every((each) => each === value)) return value
  throw new GatewayError(
    'invalid_api_key',
    `the header ${name} has several values: send it once, with one API key`,
  )
}

function wrongHeader(right: readonly string[]): GatewayError {
  const headers = right.map((header) => `"${header}"`).join(' or ')
  return new GatewayError(
    'invalid_api_key',
    `no API key was found: this endpoint reads it only from the header ${headers}`,
  )
}

function twoKeys(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this request has two different API keys, in Authorization and in x-api-key: send one of them',
  )
}

function personalToken(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this is a personal access token, which works only with the admin API: use an API key here',
  )
}

function unknownKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'this API key is unknown: check that you copied all of it, and that it belongs to this gateway',
  )
}
