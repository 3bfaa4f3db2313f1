// Turns the issues found by a schema of the contract into sentences: all at once, each with its field, so that a form
// can show every problem beside its input.
import { sentence, sentenceWithText, type Sentence } from '../core/sentences.ts'
import { AdminError } from './error.ts'

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
  const [first] = problems
  const { field = '', sentence: why = sentence('unexpected') } = first ?? {}
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
