// The fields of a request body. Some are refused in every format, and in passthrough too; some are read alike. What
// translation does with each is in a closed table per format, read by its decoder; a field in no table is unknown: it is
// dropped and named. `docs/translation.md` is checked against all of them.
import { invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray, isGiven, isObject, objectOf, stringOf } from '../../core/json.ts'
import type { CacheMark } from '../../core/request.ts'
import type { Placed } from '../json/expect.ts'
import { expect, optional } from '../json/expect.ts'

/** read = carried over (as far as `losses.ts` says); ignore = means nothing to a model; else why it is dropped. */
type Fate = 'read' | 'ignore' | { readonly drop: string }
export type FieldTable = Readonly<Record<string, Fate>>

/** A table from the names with each fate, and for what is dropped, why. */
export function fieldTable(fates: {
  readonly read: string
  readonly ignore?: string
  readonly drop?: Readonly<Record<string, string>>
}): FieldTable {
  const { read, ignore = '', drop = {} } = fates
  return Object.fromEntries([
    ...namesIn(read).map((name): [string, Fate] => [name, 'read']),
    ...namesIn(ignore).map((name): [string, Fate] => [name, 'ignore']),
    ...Object.entries(drop).map(([name, why]): [string, Fate] => [name, { drop: why }]),
  ])
}

function namesIn(text: string): readonly string[] {
  return text.match(/\S+/g) ?? []
}

/** The names of the fields that translation drops. */
export function droppedFields(body: JsonObject, table: FieldTable): string[] {
  return Object.keys(body).filter((name) => {
    const fate = Object.hasOwn(table, name) ? table[name] : undefined
    return isGiven(body[name]) && fate !== 'read' && fate !== 'ignore'
  })
}

/**
 * The members that are known inside a field, so that translation can name the unknown ones: decoders read the members
 * they understand and never see the others. A list has the shape of its entries.
 */
export type Shape = { readonly [name: string]: Inside }

/** known = not inspected; else the members inside, which may depend on the value they are in (undefined = any). */
type Inside = 'known' | Shape | ((value: JsonObject) => Shape | undefined)

/** A shape with these names, which are not inspected, and with what `inside` has. */
export function known(names: string, inside: Shape = {}): Shape {
  return { ...Object.fromEntries(namesIn(names).map((name) => [name, 'known'])), ...inside }
}

/** Shapes by a word from outside, which may be a name that every object has: hence a map. */
export function shapesOf(shapes: Readonly<Record<string, Shape>>): ReadonlyMap<string, Shape> {
  return new Map(Object.entries(shapes))
}

/** The members that no table knows, by their paths: `messages.content.…`. */
export function unknownMembers(body: JsonObject, shape: Shape): string[] {
  const unknown = new Set<string>()
  for (const [name, inside] of Object.entries(shape)) {
    collect(body[name], { inside, place: name }, unknown)
  }
  return [...unknown]
}

type Spot = { readonly inside: Inside; readonly place: string }

function collect(value: Json | undefined, { inside, place }: Spot, unknown: Set<string>): void {
  if (inside === 'known') return
  if (isArray(value)) for (const each of value) collect(each, { inside, place }, unknown)
  if (!isObject(value)) return
  const shape = typeof inside === 'function' ? inside(value) : inside
  if (shape === undefined) return
  for (const name of Object.keys(value)) {
    const known = shape[name]
    // Most members are, and most of the others are texts: nothing is spelled for them.
    if (known === 'known') continue
    const member = value[name]
    if (known === undefined || !Object.hasOwn(shape, name)) {
      if (saysSomething(member)) unknown.add(`${place}.${name}`)
    } else if (typeof member === 'object') {
      collect(member, { inside: known, place: `${place}.${name}` }, unknown)
    }
  }
}

/** Clients send null and empty lists for what they leave out. */
export function saysSomething(value: Json | undefined): boolean {
  return isGiven(value) && !(isArray(value) && value.length === 0)
}

/** Why anything in the provider account is refused, whatever it is. */
const ACCOUNT = 'it refers to something in a provider account that all keys share'

/** Fields that providers, or servers in front of them, open as URLs, one or a list. Other texts may say anything. */
const ADDRESS_FIELD = /(?:^|_)url$|^(?:file_data|image|video|audio)$/

/** gs:// and the like are read with the rights of the account. */
const ACCOUNT_ADDRESS = /^(?!https?:|file:)[a-z][a-z\d+.-]{0,30}:\/\//i

/** Some servers open a bare path, too. It has a dot before any colon, unlike other URLs and base64. */
const DISK_ADDRESS = /^file:|^[^:.]*\./i

/** No path is longer, and no other address needs more to be recognized. */
const ADDRESS_CHARACTERS = 4_096

/**
 * Refuses the first reference, at any depth, to a file kept at the provider, in the account that all keys share or on its
 * disk: by id, or by a URL that only the provider can read.
 */
export function refuseAccountFiles(value: Json | undefined, place: string): void {
  if (isArray(value)) {
    value.forEach((each, index) => refuseAccountFiles(each, `${place}[${index}]`))
  }
  if (!isObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    // The sources of an earlier answer: nothing opens them.
    if (name === 'annotations') continue
    const memberPlace = `${place}.${name}`
    if (name === 'file_id' && isGiven(member)) refuseFileId(memberPlace)
    if (ADDRESS_FIELD.test(name)) refuseAddress(member, memberPlace)
    refuseAccountFiles(member, memberPlace)
  }
}

/** A file kept at the provider: whoever uploaded it, every key could read it. */
function refuseFileId(place: string): never {
  throw unsupportedParameter(
    place,
    `${place} is not supported: ${ACCOUNT}; send the file's content instead`,
  )
}

function refuseAddress(value: Json | undefined, place: string): void {
  if (isArray(value)) value.forEach((each, index) => refuseAddress(each, `${place}[${index}]`))
  if (typeof value !== 'string') return
  // Servers written in Python ignore control characters in an address.
  const address = value.slice(0, ADDRESS_CHARACTERS).replaceAll(/[\0-\x20]/g, '')
  const why = whyRefused(address)
  if (why === undefined) return
  throw unsupportedParameter(
    place,
    `${place} is not supported: use an http or data URL, because this one ${why}`,
  )
}

/** Google's own addresses of files that were uploaded into an account. */
const ACCOUNT_HOST = /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com\.?$/

function isAtAccountHost(address: string): boolean {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return false
  return ACCOUNT_HOST.test(new URL(address).hostname)
}

function whyRefused(address: string): string | undefined {
  if (ACCOUNT_ADDRESS.test(address) || isAtAccountHost(address)) {
    return 'is read with the rights of a provider account that all keys share'
  }
  return DISK_ADDRESS.test(address) ? "names a file on a provider's own disk" : undefined
}

export const PRICE = 'it changes the price, and no price list says by how much'
const OUTPUT = 'it can produce more or longer answers than the hold covers'
const INPUT = 'it can make a model read more than the hold covers'
const REWRITE = 'it changes the request after the gateway has checked it'
const UNSETTLED = 'an answer that nobody waits for cannot be settled'
const ALLOWLIST = 'it can reach models or tools that the key does not allow'

/**
 * Fields that no request may carry, and why: those that belong to the provider account that all keys share, that change
 * the price in a way no price list knows, that let a model read or write more than is held, or that let a request reach
 * a model its key may not use.
 */
export const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  ...refused(ACCOUNT, 'conversation prompt container mcp_servers thread'),
  // Azure: data that the account may read. OpenRouter: settings stored under a name.
  ...refused(ACCOUNT, 'data_sources preset'),
  // Prompts cached at Gemini, as Vertex AI and LiteLLM accept them, and documents and prompts stored in LiteLLM.
  ...refused(ACCOUNT, 'google cached_content vector_store_ids prompt_id'),
  ...refused(UNSETTLED, 'background deferred'),
  ...refused(PRICE, 'service_tier speed inference_geo prediction audio modalities'),
  // Searches and routing of OpenAI-compatible providers, by the names that xAI, Alibaba and OpenRouter use.
  ...refused(PRICE, 'search_parameters enable_search provider'),
  // Limits by other names, which servers prefer to max_tokens or n: llama.cpp, text-generation-webui, Ollama's own.
  ...refused(OUTPUT, 'n_predict num_predict max_new_tokens auto_max_new_tokens options'),
  ...refused(OUTPUT, 'n_cmpl best_of'),
  // OpenAI: a model starts any number of others, each with a context of its own, inside one request.
  ...refused(INPUT, 'multi_agent'),
  // vLLM: a template may loop, and an image may be split into any number of tokens. LiteLLM: texts around every message.
  ...refused(INPUT, 'chat_template mm_processor_kwargs roles'),
  // LiteLLM overlays the body with the first, sends the next three as headers, removes the fields named in the fifth,
  // and marks for caching what the last one names.
  ...refused(REWRITE, 'extra_body extra_headers headers provider_specific_header'),
  ...refused(REWRITE, 'additional_drop_params cache_control_injection_points'),
  // On clouds that accept it, it could enable betas that the header of the same name may not.
  ...refused('betas go in the header anthropic-beta', 'anthropic_beta'),
  ...refused(ALLOWLIST, 'models fallbacks'),
  // LiteLLM lets the caller choose what follows a refusal, or all of its routing.
  ...refused(ALLOWLIST, 'context_window_fallbacks content_policy_fallbacks'),
  ...refused(ALLOWLIST, 'context_window_fallback_dict router_settings_override user_config'),
  // LiteLLM, where its operator lets callers say where a request goes, and with which key.
  ...refused(ALLOWLIST, 'api_base base_url api_key custom_llm_provider model_list'),
  ...refused(ALLOWLIST, 'plugins compound_custom'),
}

function refused(why: string, names: string): Readonly<Record<string, string>> {
  return Object.fromEntries(namesIn(names).map((name) => [name, why]))
}

const isFalse = (value: Json): boolean => value === false
const isOne = (value: Json): boolean => value === 1
const isEmptyList = (value: Json): boolean => isArray(value) && value.length === 0

/** The values of those fields that mean the same as leaving them out. */
const ALLOWED_VALUES = new Map<string, (value: Json) => boolean>([
  ['mcp_servers', isEmptyList],
  ['google', (value) => isObject(value) && !isGiven(value['cached_content'])],
  ['vector_store_ids', isEmptyList],
  ['background', isFalse],
  ['deferred', isFalse],
  ['service_tier', (value) => value === 'auto' || value === 'default' || value === 'standard_only'],
  ['speed', (value) => value === 'standard'],
  ['modalities', (value) => isArray(value) && value.every((each) => each === 'text')],
  ['search_parameters', (value) => isObject(value) && value['mode'] === 'off'],
  ['enable_search', isFalse],
  ['auto_max_new_tokens', isFalse],
  ['options', (value) => isObject(value) && !isGiven(value['num_predict'])],
  ['n_cmpl', isOne],
  ['best_of', isOne],
  ['multi_agent', (value) => isObject(value) && value['enabled'] === false],
])

/** What the tool runner of the Anthropic SDKs looks for in the error, to continue without a thread. */
const THREAD_FACTS = { details: { error_code: 'thread_unsupported_request' } }

/** Refuses the first such field, or one that a server may take for a field of the format. null counts as left out. */
export function refuseFields(body: JsonObject, known: FieldTable): void {
  for (const name of Object.keys(body)) {
    if (!Object.hasOwn(known, name)) refuseSpelling(name, known)
    const value = body[name]
    const why = Object.hasOwn(REFUSED_FIELDS, name) ? REFUSED_FIELDS[name] : undefined
    if (why === undefined || !isGiven(value) || ALLOWED_VALUES.get(name)?.(value) === true) continue
    const facts = name === 'thread' ? THREAD_FACTS : undefined
    throw unsupportedParameter(name, `${name} is not supported: ${why}`, facts)
  }
}

const USUAL = /^[a-z\d_]*$/

/**
 * Servers written in Go, such as Ollama, read MODEL as model: beside a model that the key allows, it would name
 * another, and MAX_TOKENS would undo the limit.
 */
function refuseSpelling(name: string, known: FieldTable): void {
  if (USUAL.test(name)) return
  // Upper case, then lower case, as Go compares: two letters beyond ASCII equal an ASCII letter.
  const usual = name.toUpperCase().toLowerCase()
  if (usual === name) return
  if (!Object.hasOwn(known, usual) && !Object.hasOwn(REFUSED_FIELDS, usual)) return
  throw invalidRequest(name, `write ${usual} instead: some servers read both as the same field`)
}

export function modelOf(body: JsonObject): string {
  const model = body['model']
  if (typeof model === 'string' && model !== '') return model
  throw invalidRequest('model', 'model must be the name of a model that GET /v1/models lists')
}

export function streamOf({ stream }: JsonObject): boolean {
  if (!isGiven(stream)) return false
  if (typeof stream === 'boolean') return stream
  throw invalidRequest('stream', 'stream must be true or false')
}

/** A count the client may leave out: an output limit, a number of answers. */
export function countOf(body: JsonObject, name: string, min: 0 | 1): number | undefined {
  const count = body[name]
  if (!isGiven(count)) return undefined
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= min) return count
  throw invalidRequest(name, `${name} must be a whole number of at least ${min}`)
}

/**
 * How many entries the lists of a conversation may have: far more than clients send. OpenAI takes 16 labels.
 * Anthropic states a limit of 100,000 messages, which its windows hold only if each is a few words.
 */
const LISTS_MAX = Object.entries({
  messages: 10_000,
  input: 10_000,
  tools: 10_000,
  functions: 10_000,
  stop: 10_000,
  stop_sequences: 10_000,
  include: 64,
  metadata: 64,
})

/** Refuses lists that are longer than any client means them to be: reading them would stall every other request. */
export function refuseLongLists(body: JsonObject): void {
  for (const [name, most] of LISTS_MAX) {
    const value = body[name]
    if (typeof value !== 'object' || value === null) continue
    const entries = isArray(value) ? value.length : Object.keys(value).length
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

/** Among the tiers that cost nothing extra. Clients of either family use both words for the standard one. */
export function decodeServiceTier(body: JsonObject): string | undefined {
  const tier = optional(body['service_tier'], 'service_tier', expect.text)
  return tier === 'standard_only' ? 'default' : tier
}

/** The person for whom a client of the chat family acts, for the usage record. What is not a name is the provider's to refuse. */
export function endUserOf(body: JsonObject): string | undefined {
  return stringOf(body['safety_identifier']) ?? stringOf(body['user'])
}

/** `user` is the old name of `safety_identifier`: if both are set and differ, only the newer one can be sent. */
export function decodeEndUser(body: JsonObject, dropped: Set<string>): string | undefined {
  const identifier = optional(body['safety_identifier'], 'safety_identifier', expect.text)
  const user = optional(body['user'], 'user', expect.text)
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

/** A cache mark, which every format writes alike under its own name. */
export function cacheMarkOf(holder: Placed, name: string): CacheMark | undefined {
  const mark = holder.optional(name, expect.placed)
  return mark && defined({ ttl: mark.optional('ttl', expect.text) })
}

/** Taken from each text: enough to distinguish conversations, little enough to hash for every request. */
const BEGINNING_CHARACTERS = 1024

/** What keeps a conversation on one target, and its cache: the client's own key, else its beginning. */
export function affinityBy(key: unknown, instructions: Json | undefined, turns: Json | undefined) {
  if (typeof key === 'string' && key !== '') return key
  const beginning = textsIn(instructions)
  for (const turn of isArray(turns) ? turns : [{ role: 'user', content: turns }]) {
    const { role, content } = objectOf(turn)
    for (const text of textsIn(content)) beginning.push(text)
    if (role === 'user' && beginning.length > 0) break
  }
  return beginning.map((text) => text.slice(0, BEGINNING_CHARACTERS)).join('\n')
}

function textsIn(content: Json | undefined): string[] {
  const parts = isArray(content) ? content : [{ text: content }]
  return parts.map((part) => objectOf(part)['text']).filter((text) => typeof text === 'string')
}
