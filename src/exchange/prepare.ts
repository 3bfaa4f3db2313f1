// Turns the client's request into what each target will be sent: the same bytes where the target speaks the client's
// format, a translation where it does not. Decided before anything is reserved, so a request that cannot be expressed
// is refused at no cost.
import { targetName } from '../catalog/models.ts'
import type { Timeouts } from '../catalog/models.ts'
import type { Price } from '../catalog/prices.ts'
import type { Ability, UpstreamFormat } from '../core/endpoints.ts'
import { EMBEDDING_FORMATS } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { defined } from '../core/json.ts'
import type { ModelTraits } from '../core/request.ts'
import type { Reserved } from '../ledger/ledger.ts'
import type { Provider } from '../providers/upstream/provider.ts'
import type { Breaker, RetryBudget } from '../routing/breaker.ts'
import { upstreamCodecOf } from '../wire/codecs.ts'
import type { RequestChange } from '../wire/contract/codec.ts'
import { clientName } from '../wire/contract/features.ts'
import { lossesOf } from '../wire/contract/losses.ts'
import type { ClientRequest } from './request.ts'

/** A model at a provider, and what it costs there. */
export type Destination = {
  readonly provider: Provider
  /** The provider's own name of the model. */
  readonly model: string
  readonly price: Price
  readonly context: number
  readonly timeouts: Timeouts
  readonly traits?: ModelTraits
  /** Set for a fallback, which may write less than the model whose place it takes, or where the hold pays for less. */
  readonly outputTokensMax?: number
  /** Set for a fallback, which may also have fewer abilities. */
  readonly lacks?: readonly Ability[]
  /** Why it has this place among the destinations. */
  readonly why: string
  /** Absent where failures are simulated, as in the sandbox. */
  readonly breaker?: Breaker
}

/** Where a request may go, in order, and how often requests for this model may be sent again. */
export type Route = {
  readonly destinations: readonly Destination[]
  readonly retries: RetryBudget
}

/** One place the request may be sent to, and how. */
export type Prepared = Destination & {
  readonly format: UpstreamFormat
  /** The exact input, where the provider can count it without a call. */
  readonly inputTokens: number | undefined
  /** How often it may search the web; each search costs something. */
  readonly searchesMax: number
  /** The request asks for long-lived cache entries, and the format does not report which writes are long-lived. */
  readonly keepsLong: boolean
  /** The same target without searches, for when the budgets cannot pay for them. */
  readonly withoutSearches?: Prepared
  /** The output limit to report to the client, because it asked for more here or at another target. */
  readonly outputCap?: number
  /** What the target is not sent, under the client's names. */
  readonly dropped: readonly string[]
  /** The body without the limits, for counting. */
  content(): JsonObject
  /** The body to send, with the output limit that the hold pays for. */
  encode(outputTokensMax: number | undefined): Promise<Buffer>
}

/** The destinations whose formats can express this request, in order; throws a refusal if there is none. */
export async function prepare(
  request: ClientRequest,
  destinations: readonly Destination[],
): Promise<readonly Prepared[]> {
  let refusal: unknown
  const prepared: Prepared[] = []
  for (const destination of destinations) {
    if (request.call.needs.some((ability) => destination.lacks?.includes(ability))) continue
    for (const format of formatsFor(request, destination)) {
      try {
        prepared.push(await prepareIn(format, request, destination))
        break
      } catch (thrown) {
        refusal ??= thrown
      }
    }
  }
  if (prepared.length > 0) return prepared
  throw refusal ?? noDestination(request.call.model)
}

export function withoutSearches(prepared: Prepared): Prepared {
  return prepared.withoutSearches ?? prepared
}

/** The targets that the hold pays for, each with the output limit that it pays for there. */
export function grantedTargets(
  prepared: readonly Prepared[],
  { grants, capped }: Reserved,
): readonly Prepared[] {
  if (grants === undefined) return prepared
  return prepared.flatMap((each, index) => {
    const grant = grants[index]
    if (grant === undefined || typeof grant === 'string') return []
    const { outputTokens } = grant
    const isTold = capped || grant.capped
    return [{ ...each, outputTokensMax: outputTokens, ...(isTold && { outputCap: outputTokens }) }]
  })
}

/** The names of the others, each with what keeps it out. */
export function skipped(
  prepared: readonly Prepared[],
  { grants = [] }: Reserved,
): readonly Skipped[] {
  return grants.flatMap((grant, index) => {
    const target = prepared[index]
    return typeof grant !== 'string' || target === undefined
      ? []
      : [{ target: nameOf(target), why: target.why, by: grant }]
  })
}

export type Skipped = {
  readonly target: string
  readonly why: string
  readonly by: 'budget' | 'held'
}

/** The same target without the thoughts of earlier turns; undefined = the request has none. */
export async function withoutReasoning(
  request: ClientRequest,
  target: Prepared,
): Promise<Prepared | undefined> {
  const forgetful = await request.withoutReasoning()
  if (forgetful === undefined) return undefined
  const prepared = await prepareIn(target.format, forgetful, target)
  return target.searchesMax > 0 ? prepared : withoutSearches(prepared)
}

export function nameOf({ provider, model }: Destination): string {
  return targetName(provider.name, model)
}

/** The formats to try: the client's own alone if the provider speaks it, else all that it speaks, the best first. */
function formatsFor(
  request: ClientRequest,
  { provider, model }: Destination,
): readonly UpstreamFormat[] {
  const { format: own } = request.codec
  const isEmbedding = EMBEDDING_FORMATS.includes(own)
  const formats = provider
    .formatsOf(model)
    .filter((format) => EMBEDDING_FORMATS.includes(format) === isEmbedding)
  if (formats.includes(own)) return [own]
  const isShort = (request.call.output.tokensMax ?? Infinity) < RESPONSE_TOKENS_MIN
  return isShort ? formats.toSorted(responsesLast) : formats
}

/** OpenAI's responses endpoint refuses a lower output limit; its chat completions accept one. */
const RESPONSE_TOKENS_MIN = 16

function responsesLast(one: UpstreamFormat, other: UpstreamFormat): number {
  return Number(one === 'responses') - Number(other === 'responses')
}

async function prepareIn(
  format: UpstreamFormat,
  request: ClientRequest,
  destination: Destination,
): Promise<Prepared> {
  const isForwarded = format === request.codec.format
  if (!isForwarded) await request.decode()
  await request.nextStep()
  const prepared = isForwarded
    ? forward(request, destination)
    : translate(request, { ...destination, format })
  return tellingLeftOut(request, prepared)
}

function forward(request: ClientRequest, destination: Destination): Prepared {
  const { codec, call } = request
  const { provider, price } = destination
  const { search, droppedAtHome = [] } = call
  const forwarding = (searchesMax?: number): Prepared['encode'] => {
    const change = { ...changeTo(destination), ...adapting(request, destination, codec.format) }
    return async (outputTokensMax) => {
      await request.nextStep()
      const limits = defined({ outputTokensMax, searchesMax })
      return codec.forwardRequest(request.content, { ...change, ...limits })
    }
  }
  const plain: Prepared = {
    ...destination,
    format: codec.format,
    inputTokens: provider.countInput?.(codec.format, request.content.value),
    searchesMax: 0,
    keepsLong: codec.format === 'chat' && call.input.cacheWrites === 'long',
    dropped: [...call.dropped, ...droppedAtHome],
    content: () => request.content.value,
    encode: forwarding(),
  }
  if (search === undefined || price.fees.webSearch === null) return plain
  const { searchesMax, dropped } = search
  return {
    ...plain,
    searchesMax,
    dropped: [...dropped, ...droppedAtHome],
    withoutSearches: plain,
    encode: forwarding(searchesMax),
  }
}

/** What a destination is sent in place of the client's values. */
function changeTo({ model, traits }: Destination): Pick<RequestChange, 'model' | 'traits'> {
  return defined({ model, traits })
}

/** How the destination's provider differs from others of its format. */
function adapting(
  { providerHeaders: headers }: ClientRequest,
  { provider, model }: Destination,
  format: UpstreamFormat,
): Pick<RequestChange, 'adapt'> {
  const { adapt } = provider
  return adapt === undefined ? {} : { adapt: (body) => adapt({ format, model, body, headers }) }
}

function translate(
  request: ClientRequest,
  destination: Destination & { readonly format: UpstreamFormat },
): Prepared {
  const { codec, call, canonical } = request
  const { format, provider } = destination
  const asked = changeTo(destination)
  const { adapt } = adapting(request, destination, format)
  const { losses, encodeRequest } = upstreamCodecOf(format)
  const lost = lossesOf(canonical, codec.format, { losses, ...asked })
  const encoded = (outputTokensMax?: number): JsonObject =>
    encodeRequest({
      ...request.canonical,
      ...asked,
      ...(outputTokensMax !== undefined && { outputTokensMax }),
    })
  // Encoded here as well, so that what the format cannot say is refused before anything is reserved.
  const content = encoded()
  return {
    ...destination,
    inputTokens: provider.countInput?.(format, content),
    searchesMax: 0,
    // A translation keeps cache marks only for formats that report lifetimes.
    keepsLong: false,
    dropped: [...new Set([...call.dropped, ...lost])],
    content: encoded,
    encode: async (outputTokensMax) => {
      await request.nextStep()
      const body = encoded(outputTokensMax)
      const adapted = adapt === undefined ? body : { ...body, ...adapt(body) }
      await request.nextStep()
      const text = JSON.stringify(adapted)
      await request.nextStep()
      return Buffer.from(text)
    },
  }
}

function noDestination(model: string): GatewayError {
  return new GatewayError(
    'provider_failed',
    `no provider of the model ${model} can serve this request`,
  )
}

/** Some providers refuse fields that others of their format accept. Their code leaves them out, and the client is told. */
function tellingLeftOut(request: ClientRequest, prepared: Prepared): Prepared {
  const names = leftOutOf(request, prepared)
  if (names.length === 0) return prepared
  const { withoutSearches } = prepared
  const tell = (one: Prepared): Prepared => ({
    ...one,
    dropped: [...new Set([...one.dropped, ...names])],
  })
  return withoutSearches === undefined
    ? tell(prepared)
    : { ...tell(prepared), withoutSearches: tell(withoutSearches) }
}

function leftOutOf(request: ClientRequest, prepared: Prepared): readonly string[] {
  const { provider, format, model } = prepared
  if (provider.leavesOut === undefined) return []
  return provider
    .leavesOut({ format, model, body: prepared.content(), headers: request.providerHeaders })
    .flatMap((name) => clientName(name, { from: format, to: request.codec.format }) ?? [])
}

/** A slower provider is not waited for: there is another way to count. */
const WAIT_MS = 3_000

/**
 * The input tokens by the provider's own count; undefined if it gives none, none that can be true, or not in time. Costs
 * nothing but a round trip: worth it only if a client asks for a count, or if a request does not fit otherwise.
 */
export async function countAt(
  { provider, format, model, content, inputTokens }: Prepared,
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Promise<number | undefined> {
  if (inputTokens !== undefined || provider.countTokens === undefined) return inputTokens
  const signal = AbortSignal.any([closed, AbortSignal.timeout(WAIT_MS)])
  try {
    const told = await provider.countTokens({ format, model, body: content(), headers }, signal)
    // The hold is made from it: a negative one would hold nothing.
    return Number.isSafeInteger(told) && Number(told) > 0 ? told : undefined
  } catch {
    closed.throwIfAborted()
    return undefined
  }
}
