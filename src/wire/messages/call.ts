// What admission reads from a messages request, in passthrough too: the model, the limits, and the size of the input
// (`input.ts`). Lenient: the provider judges the rest.
import type { Call } from '../../core/call.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, objectOf, stringOf } from '../../core/json.ts'
import { countOf, modelOf, refuseLongLists, streamOf } from '../call-fields.ts'
import { expectCount, optional } from '../expect.ts'
import { Measure } from '../measure.ts'
import { refuseFields } from '../refused-fields.ts'
import { MESSAGES_FIELDS } from './fields.ts'
import { measureInput } from './input.ts'
import { removalsFrom } from './removals.ts'
import { searchesMaxOf } from './search.ts'
import { withoutForeignThoughts } from './thoughts.ts'

export function readCall(body: JsonObject, measure?: Measure): Call {
  if (countOf(body, 'max_tokens', 0) === undefined) {
    throw invalidRequest(
      'max_tokens',
      'max_tokens is required: the maximum number of tokens to write',
    )
  }
  return readCountCall(body, measure)
}

/** The same for a request whose tokens are only counted: it needs no output limit. */
export function readCountCall(body: JsonObject, measure = new Measure()): Call {
  const model = modelOf(body)
  const stream = streamOf(body)
  if (!isArray(body['messages'])) throw invalidRequest('messages', 'messages must be a list')
  refuseFields(body, MESSAGES_FIELDS)
  refuseLongLists(body)
  const { changes, dropped } = removalsFrom(body)
  const searchesMax = searchesMaxOf(body)
  const input = measureInput(body, changes, measure)
  const thinking = isObject(body['thinking']) ? body['thinking'] : { type: 'disabled' }
  const thinkingTokens = optional(thinking['budget_tokens'], 'thinking.budget_tokens', expectCount)
  const metadata = objectOf(body['metadata'])
  const endUser = stringOf(metadata['user_id'])
  return {
    model,
    stream,
    input: input.measure,
    output: defined({
      tokensMax: countOf(body, 'max_tokens', 0),
      choices: 1,
      thinkingTokens,
      thinks: thinking['type'] !== 'disabled',
    }),
    needs: thinkingTokens === undefined ? input.needs : [...input.needs, 'reasoning'],
    dropped,
    ...(input.hasForeignThoughts && {
      droppedAtHome: withoutForeignThoughts(body)?.dropped ?? [],
    }),
    ...(searchesMax === 0
      ? {}
      : { search: { searchesMax, dropped: removalsFrom(body, { maySearch: true }).dropped } }),
    ...defined({ endUser }),
  }
}
