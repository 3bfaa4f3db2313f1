// Renders anything thrown as the one error envelope of the admin API. Internal faults reveal no details.
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { isObject } from '../core/json.ts'
import { sentence, type Sentence } from '../core/sentences.ts'
import { StoreError } from '../store/database/errors.ts'
import { isOutage } from '../store/database/outage.ts'
import type { AdminErrorJson } from './contract/errors.ts'
import { AdminError } from './error.ts'
import { schemaError } from './schema-error.ts'

export function errorJson(error: AdminError, requestId: string): AdminErrorJson {
  const { field, problems, permission, conflict } = error.details
  return {
    error: {
      code: error.code,
      ...(field === undefined ? {} : { field }),
      ...sentenceJson(error.sentence),
      // The message must make sense on its own, so it names the field.
      ...(problems && field ? { message: `${field}: ${error.message}` } : {}),
      request_id: requestId,
      ...(problems === undefined
        ? {}
        : {
            problems: problems.map((each) => ({
              field: each.field,
              ...sentenceJson(each.sentence),
            })),
          }),
      ...(permission === undefined ? {} : { permission }),
      ...(conflict === undefined ? {} : { conflict }),
    },
  }
}

function sentenceJson({ name, values, text }: Sentence) {
  return { message: text, reason: name, ...(Object.keys(values).length === 0 ? {} : { values }) }
}

export function toAdminError(thrown: unknown): AdminError {
  if (thrown instanceof AdminError) return thrown
  if (thrown instanceof StoreError) return ofStore(thrown)
  if (hasZodFastifySchemaValidationErrors(thrown)) return schemaError(thrown.validation)
  if (isOutage(thrown)) return unavailable(thrown)
  return ofFastify(thrown) ?? internal(thrown)
}

function ofStore(thrown: StoreError): AdminError {
  const { code, field, cause } = thrown
  const why = thrown.sentence ?? sentence('unexpected')
  switch (code) {
    case 'invalid_value':
      return new AdminError('invalid_value', why, field === undefined ? {} : { field })
    case 'unknown_key':
      return new AdminError('not_found', sentence('no_such_key'))
    case 'unknown_hold':
    case 'unknown_request':
    case 'unknown_destination':
      return new AdminError('not_found', why)
    case 'duplicate_name':
      return new AdminError('duplicate_name', why, { field: 'name' })
    case 'wrong_state':
    case 'version_conflict':
      return new AdminError(code, why)
    case 'unreachable':
    case 'read_only':
      return unavailable(cause ?? thrown)
    case 'invalid_url':
    case 'not_a_database':
    case 'no_database':
    case 'no_tables':
    case 'newer_schema':
    case 'older_schema':
    case 'wrong_secret':
      return internal(thrown)
  }
}

/** What Fastify refuses before a handler runs: a body that is not JSON, too large, or of another type. */
function ofFastify(thrown: unknown): AdminError | undefined {
  if (!isObject(thrown) || typeof thrown['statusCode'] !== 'number') return undefined
  const status = thrown['statusCode']
  if (status === 413) {
    return new AdminError('too_large', sentence('body_too_large'))
  }
  if (status < 400 || status >= 500) return undefined
  return new AdminError('invalid_value', sentence('json_needed'))
}

function unavailable(cause: unknown): AdminError {
  return new AdminError('unavailable', sentence('database_unreachable'), {
    cause,
    retryAfterSeconds: 2,
  })
}

function internal(cause: unknown): AdminError {
  return new AdminError('internal_error', sentence('fault'), { cause })
}
