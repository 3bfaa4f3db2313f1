// The conversation behind a response id, which Tollgate keeps instead of the provider. It belongs to the key that made
// it, is sealed at rest, and expires. Providers are sent all of it each time, so it works alike for every model.
import type { Clock } from '../../core/clock.ts'
import { GatewayError, invalidRequest, unsupportedParameter } from '../../core/errors.ts'
import {
  isArray,
  isGiven,
  isObject,
  listOf,
  stringOf,
  type Json,
  type JsonObject,
} from '../../core/json.ts'
import { nextStep } from '../../core/runtime.ts'
import type { ResponseName } from '../../store/responses.ts'
import { refuseLongLists } from '../../wire/contract/fields.ts'
import { SseReader } from '../../wire/contract/sse.ts'
import {
  changeMembers,
  exactBody,
  findMember,
  readBodyInSteps,
  type JsonBody,
} from '../../wire/json/body.ts'
import { exactly } from '../../wire/json/exact.ts'
import { itemType } from '../../wire/responses/fields.ts'
import { canBeStored, type ResponseVault } from './vault.ts'

export type ResponsesState = {
  /** Where answers are kept; every look-up is within one key. */
  readonly vault: Pick<ResponseVault, 'put' | 'get' | 'delete'>
  readonly clock: Clock
  /** As configured now: a reload changes them. */
  readonly settings: () => ResponsesSettings
}

type ResponsesSettings = {
  readonly store: boolean
  readonly retentionMs: number
  /** The size limit of any request, a rebuilt one included: a chain of answers must not grow without bound. */
  readonly bodyBytesMax: number
}

/** A client's request, together with the conversation it continues. */
export type ResolvedRequest = {
  /** The request with the whole conversation in it: what is admitted, sent and stored. */
  readonly body: JsonBody
  /** The request as the answer repeats it to the client. */
  readonly asked: JsonObject
  /** The names of the fields that ask for something the client does not get. */
  readonly dropped: readonly string[]
  /** Keeps the answer, given its end as the client will see it. Called before that end is sent; absent = it is not kept. */
  readonly remember?: (ending: string) => Promise<void>
}

/** Fills in what the request refers to: the conversation before it, and items by their ids. */
export async function resolveRequest(
  state: ResponsesState,
  keyId: string,
  sent: JsonBody,
): Promise<ResolvedRequest> {
  const { store } = state.settings()
  refuseLongLists(sent.value)
  const body = await rebuild(state, keyId, sent)
  const asked = store ? sent.value : { ...sent.value, store: false }
  if (asked['store'] === false) {
    // A client that omits `store` has not asked for it, although it is on by default.
    const dropped = sent.value['store'] === true ? ['store'] : []
    return { body, asked, dropped }
  }
  // The only part of the client's request that is kept until the answer is complete.
  const input = inputText(body)
  return {
    body,
    asked,
    dropped: [],
    remember: (ending) => keep(state, keyId, { input, ending }),
  }
}

/** An input as a list of items; undefined when it is neither a text nor a list. */
function itemsOf(input: Json | undefined): readonly Json[] | undefined {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return isArray(input) ? input : undefined
}

/** The list of items as it was written, because parsing rounds long numbers. */
function inputText({ bytes, value, members }: JsonBody): string {
  const { input } = value
  const member = isArray(input) ? members.get('input') : undefined
  return member === undefined
    ? JSON.stringify(itemsOf(input) ?? [])
    : bytes.toString('utf8', member.valueStart, member.end)
}

/** A stored answer: the input that the next request must send again, and the response as it was given. */
export type StoredResponse = {
  readonly id: string
  readonly input: readonly Json[]
  readonly response: JsonObject
  /** Its size as JSON. */
  readonly characters: number
}

export async function findResponse(
  state: ResponsesState,
  name: ResponseName,
): Promise<StoredResponse | undefined> {
  const opened = isResponseId(name.id) ? await state.vault.get(name) : undefined
  if (opened === undefined) return undefined
  await nextStep(opened.length)
  const parsed = exactly(opened, JSON.parse(opened) as JsonObject)
  const { input, response } = parsed as Pick<StoredResponse, 'input' | 'response'>
  return { id: name.id, input, response, characters: opened.length }
}

/** Whether there was one to forget. */
export async function forgetResponse(state: ResponsesState, name: ResponseName): Promise<boolean> {
  return isResponseId(name.id) && state.vault.delete(name)
}

/** The vault also holds entries that point from an item to its response; those are not responses. */
function isResponseId(id: string): boolean {
  return id.startsWith('resp_')
}

/**
 * The answer as the next request carries it: without the probabilities of its tokens, which no model reads. With twenty
 * alternatives each, those of a single page would be more than a request may contain.
 */
function saidIn(response: JsonObject | undefined): readonly Json[] {
  return outputOf(response).map((item) =>
    isObject(item) && isArray(item['content'])
      ? { ...item, content: item['content'].map(withoutProbabilities) }
      : item,
  )
}

function withoutProbabilities(part: Json): Json {
  return isObject(part) && isArray(part['logprobs']) ? { ...part, logprobs: [] } : part
}

async function rebuild(state: ResponsesState, keyId: string, sent: JsonBody): Promise<JsonBody> {
  const { previous_response_id: previousId, input } = sent.value
  const items = input === undefined ? [] : itemsOf(input)
  const hasPrevious = isGiven(previousId)
  // Input that is neither text nor a list is refused where the rest of the request is read.
  if (items === undefined || (!hasPrevious && !items.some(isReference))) return sent
  const previous = hasPrevious ? await previousResponse(state, keyId, previousId) : undefined
  const exact = await exactBody(sent)
  const now = await withReferred(state, keyId, itemsOf(exact['input']) ?? [])
  await nextStep(sent.bytes.length + (previous?.characters ?? 0))
  // All of the input before, then the answer to it, then what is new.
  const before = previous === undefined ? [] : [...previous.input, ...saidIn(previous.response)]
  const rebuilt = changeMembers(sent, {
    previous_response_id: undefined,
    input: [...before, ...now],
  })
  if (rebuilt.length <= state.settings().bodyBytesMax) return readBodyInSteps(rebuilt)
  throw tooLarge(hasPrevious ? 'previous_response_id' : 'input')
}

function tooLarge(param: 'previous_response_id' | 'input'): GatewayError {
  const message = `the conversation behind ${param} has grown too large: start a new one`
  return new GatewayError('request_too_large', message, { param })
}

async function previousResponse(
  state: ResponsesState,
  keyId: string,
  id: Json,
): Promise<StoredResponse> {
  const param = 'previous_response_id'
  if (!state.settings().store) {
    throw unsupportedParameter(
      param,
      'previous_response_id is not supported: this gateway stores no responses; send the whole conversation as input',
    )
  }
  if (typeof id !== 'string') throw invalidRequest(param, `${param} must be a string`)
  const stored = await findResponse(state, { keyId, id })
  if (stored !== undefined) return stored
  throw new GatewayError(
    'previous_response_not_found',
    `this key has no stored response "${id.slice(0, 100)}": it may have expired or made room for newer ones, or was made with store: false`,
    { param },
  )
}

function isReference(item: Json): item is JsonObject {
  return isObject(item) && itemType(item) === 'item_reference'
}

/**
 * The items, with references replaced by the items they name. Each id is looked up once, one after the other: a request
 * that names thousands does not keep others from the database, and cannot outgrow the size limit of a request.
 */
async function withReferred(
  state: ResponsesState,
  keyId: string,
  items: readonly Json[],
): Promise<readonly Json[]> {
  const { bodyBytesMax } = state.settings()
  const outputs = new Map<string, readonly Json[]>()
  const known = new Map<string, { readonly item: Json; readonly characters: number }>()
  const now: Json[] = []
  let characters = 0
  for (const [index, item] of items.entries()) {
    if (!isReference(item)) {
      now.push(item)
      continue
    }
    const itemId = stringOf(item['id']) ?? ''
    let found = known.get(itemId)
    if (found === undefined) {
      const named = await referred(state, { keyId, itemId }, outputs)
      if (named === undefined) throw unknownItem(`input[${index}].id`, itemId)
      found = { item: named, characters: JSON.stringify(named).length }
      known.set(itemId, found)
    }
    characters += found.characters
    if (characters > bodyBytesMax) throw tooLarge('input')
    now.push(found.item)
  }
  return now
}

/** `outputs`: those of the responses already opened, by response id. */
async function referred(
  state: ResponsesState,
  { keyId, itemId }: { readonly keyId: string; readonly itemId: string },
  outputs: Map<string, readonly Json[]>,
): Promise<Json | undefined> {
  const id = await state.vault.get({ keyId, id: storedIdOf(keyId, itemId) })
  if (id === undefined) return undefined
  const output = outputs.get(id) ?? saidIn((await findResponse(state, { keyId, id }))?.response)
  outputs.set(id, output)
  return output.find((one) => idOf(one) === itemId)
}

function unknownItem(place: string, itemId: string): GatewayError {
  return invalidRequest(
    place,
    `${place} names no stored item of this key ("${itemId.slice(0, 100)}"); send the item itself`,
  )
}

/** Each item is a row of its own. Those after these are kept with their response, but cannot be referred to alone. */
const ITEMS_NAMED_MAX = 1_000

async function keep(
  state: ResponsesState,
  keyId: string,
  answered: { readonly input: string; readonly ending: string },
): Promise<void> {
  const text = endOf(answered.ending)
  const response = JSON.parse(text) as JsonObject
  const id = stringOf(response['id'])
  if (id === undefined) return
  const { input } = answered
  await nextStep(input.length)
  const expiresAt = state.clock.now() + state.settings().retentionMs
  // An item can be referred to by its id alone, which does not tell which response it is in.
  const items = outputOf(response).slice(0, ITEMS_NAMED_MAX)
  const itemIds = items.flatMap((item) => idOf(item) ?? []).filter(canBeStored)
  const texts = new Map([
    [id, `{"input":${input},"response":${text}}`],
    ...itemIds.map((itemId) => [storedIdOf(keyId, itemId), id] as const),
  ])
  try {
    await state.vault.put(keyId, texts, expiresAt)
  } catch (cause) {
    throw new GatewayError(
      'ledger_unavailable',
      'the answer could not be stored; send store: false if it need not be',
      { shouldRetry: false, cause },
    )
  }
}

/** The JSON of the response that ends an answer, whole or streamed. */
function endOf(ending: string): string {
  if (ending.trimStart().startsWith('{')) return ending
  for (const { data } of new SseReader().read(Buffer.from(ending)).toReversed()) {
    const response = data.startsWith('{') ? findMember(data, 'response') : undefined
    if (response !== undefined) return data.slice(response.start, response.end)
  }
  return '{}'
}

/** Item ids come from providers, and two keys may be given the same one. */
function storedIdOf(keyId: string, itemId: string): string {
  return `${keyId}/${itemId}`
}

function outputOf(response: JsonObject | undefined): readonly Json[] {
  return listOf(response?.['output'])
}

function idOf(item: Json): string | undefined {
  return isObject(item) ? stringOf(item['id']) : undefined
}
