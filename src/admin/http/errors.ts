// Renders anything thrown as the one error envelope of the admin API. Internal faults reveal no details; what is wrong
// with a call is said all at once, each with its field, so that a form can show every problem beside its input.
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { isObject } from '../../core/json.ts'
import { sentence, sentenceWithText, type Sentence } from '../../core/sentences.ts'
import { StoreError } from '../../store/database/errors.ts'
import { isOutage } from '../../store/database/outage.ts'
import { AdminError, type AdminErrorJson } from '../contract/errors.ts'

export function errorJson(error: AdminError, requestId: string): AdminErrorJson {
  const { field, problems, permission, conflict } = error.details
  return {
    error: {
      code: error.code,
      field,
      ...sentenceJson(error.sentence),
      // The message must make sense on its own, so it names the field.
      ...(problems && field ? { message: `${field}: ${error.message}` } : {}),
      request_id: requestId,
      problems: problems?.map((each) => ({ field: each.field, ...sentenceJson(each.sentence) })),
      permission,
      conflict,
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
  const { code, field, cause, problems } = thrown
  const why = thrown.sentence ?? sentence('unexpected')
  switch (code) {
    case 'invalid_value':
      return problems[0] === undefined
        ? new AdminError('invalid_value', why, { field })
        : new AdminError('invalid_value', problems[0].sentence, { field, problems })
    case 'unknown_group':
      return new AdminError('not_found', sentence('no_such_group'))
    case 'unknown_key':
      return new AdminError('not_found', sentence('no_such_key'))
    case 'unknown_hold':
    case 'unknown_request':
    case 'unknown_destination':
    case 'unknown_wish':
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
    case 'unusable_backup':
    case 'backup_file':
    case 'not_empty':
    case 'in_use':
      return internal(thrown)
  }
}

/** What Fastify refuses before a handler runs: a body that is not JSON, too large, or of another type. */
function ofFastify(thrown: unknown): AdminError | undefined {
  if (!isObject(thrown) || typeof thrown['statusCode'] !== 'number') return undefined
  const status = thrown['statusCode']
  if (status === 413) return new AdminError('too_large', sentence('body_too_large'))
  if (status < 400 || status >= 500) return undefined
  return new AdminError('invalid_value', sentence('json_needed'))
}

function unavailable(cause: unknown): AdminError {
  const why = sentence('database_unreachable')
  return new AdminError('unavailable', why, { cause, retryAfterSeconds: 2 })
}

function internal(cause: unknown): AdminError {
  return new AdminError('internal_error', sentence('fault'), { cause })
}

/** A zod issue in the form that Fastify gives it. */
type Issue = {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string | undefined
  readonly params: Readonly<Record<string, unknown>>
}

export function schemaError(issues: readonly Issue[]): AdminError {
  const problems = issues.map((issue) => {
    const field = fieldOf(issue)
    return { field, sentence: sentenceOf(issue, field) }
  })
  const { field = '', sentence: why = sentence('unexpected') } = problems[0] ?? {}
  return new AdminError('invalid_value', why, { field, problems })
}

/** `/budget` is the field "budget"; the name of an unknown field is appended. */
function fieldOf({ instancePath, params }: Issue): string {
  const unknown = Array.isArray(params['keys']) ? params['keys'].slice(0, 1) : []
  return [...instancePath.split('/').filter(Boolean), ...unknown].join('.')
}

function sentenceOf({ keyword, message = '', params }: Issue, field: string): Sentence {
  const own = sentenceWithText(message)
  if (own !== undefined) return own
  if (keyword === 'unrecognized_keys') return sentence('unknown_field')
  if (/ received undefined$/.test(message)) return sentence('needed')
  if (keyword === 'too_small') return tooSmall(params)
  if (keyword === 'too_big') return tooBig(params, field)
  const { values } = params
  if (Array.isArray(values)) return sentence('choose_one_of', { allowed: values.join(', ') })
  const type = keyword === 'invalid_type' ? JSON_TYPES.get(params['expected']) : undefined
  return type === undefined ? sentence('unexpected') : sentence('type_needed', { type })
}

/** JSON types by zod's names. The one that people get wrong is money: it is a string. */
const JSON_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['int', 'number'],
  ['boolean', 'boolean'],
  ['array', 'array'],
  ['object', 'object'],
  ['record', 'object'],
])

function tooSmall({ origin, minimum }: Issue['params']): Sentence {
  const least = Number(minimum)
  if (origin === 'string')
    return least <= 1 ? sentence('needed') : sentence('password_short', { least })
  return sentence(origin === 'array' ? 'too_few' : 'number_least', { least })
}

function tooBig({ origin, maximum }: Issue['params'], field: string): Sentence {
  const most = Number(maximum)
  if (origin === 'string') return sentence('too_long', { field, most })
  return origin === 'array'
    ? sentence('too_many', { field, most })
    : sentence('number_most', { most })
}
