// What admission reads of a messages request, also of one that is passed through: the model, the limits, and how much
// there is to read (`input.ts`). Lenient: the provider judges the rest.
import type { Call } from '../../core/call.ts'
import type { Ability } from '../../core/endpoints.ts'
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { defined, isArray, isObject, stringOf } from '../../core/json.ts'
import { measureInput } from './input.ts'
import { removalsFrom } from './removals.ts'
import { promptBeginning, sessionOf } from './session.ts'

export function readCall(body: JsonObject): Call {
  const tokensMax = body['max_tokens']
  if (!Number.isInteger(tokensMax) || (tokensMax as number) < 0) {
    throw invalidRequest(
      'max_tokens',
      'max_tokens is required: a whole number of tokens, 0 or more',
    )
  }
  return read(body, tokensMax as number)
}

/** The same for a request whose tokens are only counted: it needs no output limit. */
export function readCountCall(body: JsonObject): Call {
  return read(body, undefined)
}

function read(body: JsonObject, tokensMax: number | undefined): Call {
  const model = stringOf(body['model'])
  if (model === undefined || model === '') {
    throw invalidRequest('model', 'model is required: the name of a model')
  }
  if (!isArray(body['messages'])) throw invalidRequest('messages', 'messages must be a list')
  const { stream = false, thinking, metadata } = body
  if (typeof stream !== 'boolean') throw invalidRequest('stream', 'stream must be true or false')
  refuseShared(body)
  refusePriced(body)
  const { changes, dropped } = removalsFrom(body)
  const input = measureInput({ ...body, ...changes })
  const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined
  const thinkingTokens = typeof budget === 'number' ? budget : undefined
  const needs: Ability[] = [...input.needs]
  if (thinkingTokens !== undefined) needs.push('reasoning')
  const endUser = isObject(metadata) ? stringOf(metadata['user_id']) : undefined
  return defined({
    model,
    stream,
    input: input.measure,
    output: defined({ tokensMax, choices: 1, thinkingTokens, thinks: thinks(body) }),
    needs,
    dropped,
    affinity: sessionOf(endUser) ?? promptBeginning(body),
    endUser,
  })
}

function thinks(body: JsonObject): boolean {
  const { thinking } = body
  return isObject(thinking) && thinking['type'] !== 'disabled'
}

/** What would reach state that all keys of the provider account share, or another model than the one that is paid for. */
function refuseShared(body: JsonObject): void {
  for (const name of ['container', 'mcp_servers', 'thread', 'fallbacks', 'fallback_credit_token']) {
    const value = body[name]
    if (value === undefined || value === null || (isArray(value) && value.length === 0)) continue
    throw unsupportedParameter(name, `${name} cannot be used through this gateway: leave it out`)
  }
}

const STANDARD: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: ['auto', 'default', 'standard_only'],
  speed: ['standard'],
  inference_geo: ['global'],
}

function refusePriced(body: JsonObject): void {
  for (const [name, values] of Object.entries(STANDARD)) {
    const value = body[name]
    if (value === undefined || value === null || values.includes(value)) continue
    throw unsupportedParameter(
      name,
      `${name} changes the price and can only be ${values.join(' or ')} here`,
    )
  }
}
