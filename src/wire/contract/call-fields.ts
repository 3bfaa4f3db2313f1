// The fields that formats read alike, with the same refusals: model, stream, output limit, labels, tier, end user.
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { isArray, isGiven, isObject, stringOf } from '../../core/json.ts'
import { expectBoolean, expectCount, expectPositive, expectText, optional } from '../json/expect.ts'

export function modelOf(body: JsonObject): string {
  const model = body['model']
  if (typeof model === 'string' && model !== '') return model
  throw invalidRequest('model', 'model must be the name of a model that GET /v1/models lists')
}

export function streamOf(body: JsonObject): boolean {
  return optional(body['stream'], 'stream', expectBoolean) ?? false
}

/** A count the client may leave out: an output limit, a number of answers. */
export function countOf(body: JsonObject, name: string, min: 0 | 1): number | undefined {
  return optional(body[name], name, min === 0 ? expectCount : expectPositive)
}

/**
 * How many entries the lists of a conversation may have: far more than clients send. OpenAI takes 16 labels.
 * Anthropic states a limit of 100,000 messages, which its windows hold only if each is a few words.
 */
const LISTS_MAX: Readonly<Record<string, number>> = {
  messages: 10_000,
  input: 10_000,
  tools: 10_000,
  functions: 10_000,
  stop: 10_000,
  stop_sequences: 10_000,
  include: 64,
  metadata: 64,
}

/** Refuses lists that are longer than any client means them to be: reading them would stall every other request. */
export function refuseLongLists(body: JsonObject): void {
  for (const [name, most] of Object.entries(LISTS_MAX)) {
    const value = body[name]
    const entries = isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0
    if (entries <= most) continue
    throw invalidRequest(name, `${name} has ${entries} entries; at most ${most} are allowed`)
  }
}

// The limits that both SDK families document. Labels beyond them are the provider's to refuse and not worth recording.
const LABELS_MAX = 16
const LABEL_NAME_CHARACTERS_MAX = 64
const LABEL_CHARACTERS_MAX = 512

/** The client's own labels; whatever is not a label is left out. */
export function labelsOf(metadata: unknown): Readonly<Record<string, string>> | undefined {
  if (!isObject(metadata)) return undefined
  const labels = Object.entries(metadata).filter(
    (entry): entry is [string, string] =>
      entry[0].length <= LABEL_NAME_CHARACTERS_MAX &&
      typeof entry[1] === 'string' &&
      entry[1].length <= LABEL_CHARACTERS_MAX,
  )
  return labels.length === 0 ? undefined : Object.fromEntries(labels.slice(0, LABELS_MAX))
}

/**
 * The service tier, among those that cost nothing extra (`fields.ts`). The families have different words for the
 * standard one, and clients of either use both.
 */
export function decodeServiceTier(body: JsonObject): string | undefined {
  const tier = optional(body['service_tier'], 'service_tier', expectText)
  return tier === 'standard_only' ? 'default' : tier
}

/** The person for whom a client of the chat family acts, for the usage record. What is not a name is the provider's to refuse. */
export function endUserOf(body: JsonObject): string | undefined {
  return stringOf(body['safety_identifier']) ?? stringOf(body['user'])
}

/** `user` is the old name of `safety_identifier`: if both are set and differ, only the newer one can be sent. */
export function decodeEndUser(body: JsonObject, dropped: Set<string>): string | undefined {
  const identifier = optional(body['safety_identifier'], 'safety_identifier', expectText)
  const user = optional(body['user'], 'user', expectText)
  if (identifier !== undefined && user !== undefined && user !== identifier) dropped.add('user')
  return identifier ?? user
}

/**
 * What is dropped of a request in a format whose `context_management` asks for compaction alone: in the middle of the
 * request, the provider summarizes the conversation and continues with the summary. No hold covers reading it twice.
 */
export function compactionIn({ context_management: management }: JsonObject): readonly string[] {
  return isGiven(management) ? ['context_management'] : []
}
