// Whatever was thrown on the way to an answer, as the one envelope of the admin API. Our own faults say nothing about
// their insides.
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'

import { isObject } from '../core/json.ts'
import { StoreError } from '../store/errors.ts'
import { isOutage } from '../store/outage.ts'
import type { AdminErrorJson } from './contract/errors.ts'
import { AdminError } from './error.ts'

export function errorJson(error: AdminError, requestId: string): AdminErrorJson {
  const { field, problems, permission, conflict } = error.details
  return {
    error: {
      code: error.code,
      ...(field === undefined ? {} : { field }),
      message: error.message,
      request_id: requestId,
      ...(problems === undefined ? {} : { problems: [...problems] }),
      ...(permission === undefined ? {} : { permission }),
      ...(conflict === undefined ? {} : { conflict }),
    },
  }
}

export function toAdminError(thrown: unknown): AdminError {
  if (thrown instanceof AdminError) return thrown
  if (thrown instanceof StoreError) return ofStore(thrown)
  if (hasZodFastifySchemaValidationErrors(thrown)) return ofSchema(thrown.validation)
  if (isOutage(thrown)) return unavailable(thrown)
  return ofFastify(thrown) ?? internal(thrown)
}

function ofStore(thrown: StoreError): AdminError {
  const { code, message, field, cause } = thrown
  switch (code) {
    case 'invalid_value':
      return new AdminError('invalid_value', message, field === undefined ? {} : { field })
    case 'unknown_key':
      return new AdminError('not_found', 'there is no key with this id')
    case 'unknown_hold':
    case 'unknown_request':
    case 'unknown_destination':
      return new AdminError('not_found', message)
    case 'duplicate_name':
      return new AdminError('duplicate_name', message, { field: 'name' })
    case 'wrong_state':
    case 'version_conflict':
      return new AdminError(code, message)
    case 'unreachable':
    case 'read_only':
      return unavailable(cause ?? thrown)
    case 'invalid_url':
    case 'not_a_database':
    case 'newer_schema':
    case 'wrong_secret':
      return internal(thrown)
  }
}

type Issue = { readonly instancePath: string; readonly message?: string | undefined }

/** All that is wrong at once, each with its field, so that a form can show every problem beside its input. */
function ofSchema(issues: readonly Issue[]): AdminError {
  const problems = issues.map(({ instancePath, message = 'is not as expected' }) => ({
    field: fieldOf(instancePath, message),
    message: / received undefined$/.test(message) ? 'this is needed' : message,
  }))
  const [first] = problems
  const { field = '', message = '' } = first ?? {}
  return new AdminError('invalid_value', field === '' ? message : `${field}: ${message}`, {
    field,
    problems,
  })
}

/** `/budget` is the field "budget"; a field nobody knows is named in the message alone. */
function fieldOf(path: string, message: string): string {
  const unknown = /^Unrecognized keys?: "([^"]+)"/.exec(message)?.[1]
  return [...path.split('/').filter(Boolean), ...(unknown === undefined ? [] : [unknown])].join('.')
}

/** What Fastify refuses before a handler runs: a body that is no JSON, too large, of another type. */
function ofFastify(thrown: unknown): AdminError | undefined {
  if (!isObject(thrown) || typeof thrown['statusCode'] !== 'number') return undefined
  const status = thrown['statusCode']
  if (status === 413) {
    return new AdminError('too_large', 'the body is larger than this interface takes')
  }
  if (status < 400 || status >= 500) return undefined
  return new AdminError(
    'invalid_value',
    'send the body as JSON, with "content-type: application/json"',
  )
}

function unavailable(cause: unknown): AdminError {
  const message = 'the database cannot be reached: try again shortly'
  return new AdminError('unavailable', message, { cause, retryAfterSeconds: 2 })
}

function internal(cause: unknown): AdminError {
  return new AdminError(
    'internal_error',
    'Tollgate failed to handle this request; the log has the details under this request id',
    { cause },
  )
}
