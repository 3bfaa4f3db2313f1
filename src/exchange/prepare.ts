// What each route would be sent: the client's own bytes where the provider speaks the client's format, a translation
// where it does not. Decided before anything is reserved, so a request that cannot be expressed is refused at no cost.
import { EMBEDDING_FORMATS, type UpstreamFormat } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { defined, type JsonObject } from '../core/json.ts'
import type { Reserved } from '../ledger/ledger.ts'
import type { Route } from '../routing/route.ts'
import { UPSTREAM_CODECS } from '../wire/codecs.ts'
import type { RequestChange, UpstreamCodec } from '../wire/contract/codec.ts'
import { clientName, lossesOf } from '../wire/contract/losses.ts'
import type { ClientRequest } from './request.ts'

/** A client's request as one route would be sent it. */
export type OutboundRequest = {
  readonly route: Route
  /** Of the format that the provider is sent. */
  readonly codec: UpstreamCodec
  /** The exact input, where the provider can count it without a call. */
  readonly inputTokens: number | undefined
  /** How often it may search the web; each search costs something. */
  readonly searchesMax: number
  /** It asks for long-lived cache entries, and the format does not report which writes are long-lived. */
  readonly keepsLong: boolean
  /** The same without searches, for when the budgets cannot pay for them. */
  readonly withoutSearches?: OutboundRequest
  /** Set for a fallback, which may write less than the model whose place it takes, or where the hold pays for less. */
  readonly outputTokensMax: number | undefined
  /** The output limit to report to the client, because it asked for more here or at another target. */
  readonly outputCap?: number
  /** What is not sent, under the client's names. */
  readonly dropped: readonly string[]
  /** The body without the limits, for counting. */
  readonly content: () => JsonObject
  /** The body to send, with the output limit that the hold pays for. */
  encode(outputTokensMax: number | undefined): Promise<Buffer>
}

/** For the routes whose formats can express this request, in order; throws a refusal if there is none. */
export async function prepare(
  request: ClientRequest,
  routes: readonly Route[],
): Promise<readonly OutboundRequest[]> {
  let refusal: unknown
  const prepared: OutboundRequest[] = []
  for (const route of routes) {
    if (request.call.needs.some((ability) => route.target.lacks.includes(ability))) continue
    for (const format of formatsFor(request, route)) {
      try {
        prepared.push(await prepareIn(format, request, route))
        break
      } catch (thrown) {
        refusal ??= thrown
      }
    }
  }
  if (prepared.length > 0) return prepared
  throw refusal ?? noRoute(request.call.model)
}

/**
 * What a hold pays for, with the output limit that it pays for at each route; and the routes that it does not cover.
 * Without a hold all is left as it is.
 */
export function affordable(
  prepared: readonly OutboundRequest[],
  { hold, maySearch }: { readonly hold: Reserved | undefined; readonly maySearch: boolean },
): { readonly outbound: readonly OutboundRequest[]; readonly skipped: readonly Skipped[] } {
  const all = maySearch ? prepared : prepared.map((each) => each.withoutSearches ?? each)
  if (hold?.grants === undefined) return { outbound: all, skipped: NONE_SKIPPED }
  const { grants, capped } = hold
  const outbound: OutboundRequest[] = []
  const skipped: Skipped[] = []
  for (const [index, each] of all.entries()) {
    const grant = grants[index]
    if (grant === undefined) continue
    if (typeof grant === 'string') {
      skipped.push({ target: each.route.target.name, why: each.route.why, by: grant })
      continue
    }
    const { outputTokens } = grant
    const isTold = capped || grant.capped
    outbound.push({
      ...each,
      outputTokensMax: outputTokens,
      ...(isTold && { outputCap: outputTokens }),
    })
  }
  return { outbound, skipped }
}

const NONE_SKIPPED: readonly Skipped[] = []

/** A route that a request does not take, and what keeps it from there. */
export type Skipped = {
  readonly target: string
  readonly why: string
  readonly by: 'budget' | 'held'
}

/** The same without the reasoning of earlier turns; undefined = the request has none. */
export async function withoutReasoning(
  request: Pick<ClientRequest, 'withoutReasoning'>,
  { route, codec, searchesMax }: OutboundRequest,
): Promise<OutboundRequest | undefined> {
  const shorter = await request.withoutReasoning()
  if (shorter === undefined) return undefined
  const prepared = await prepareIn(codec.format, shorter, route)
  return searchesMax > 0 ? prepared : (prepared.withoutSearches ?? prepared)
}

/** The formats to try: the client's own alone if the provider speaks it, else all that it speaks, the best first. */
function formatsFor(
  { codec, call }: ClientRequest,
  { provider, target }: Route,
): readonly UpstreamFormat[] {
  const isEmbedding = EMBEDDING_FORMATS.includes(codec.format)
  const formats = provider
    .formatsOf(target.model)
    .filter((format) => EMBEDDING_FORMATS.includes(format) === isEmbedding)
  if (formats.includes(codec.format)) return [codec.format]
  const isShort = (call.output.tokensMax ?? Infinity) < RESPONSE_TOKENS_MIN
  const isLast = (format: UpstreamFormat): number => Number(format === 'responses')
  return isShort ? formats.toSorted((one, other) => isLast(one) - isLast(other)) : formats
}

/** OpenAI's responses endpoint refuses a lower output limit; its chat completions accept one. */
const RESPONSE_TOKENS_MIN = 16

async function prepareIn(
  format: UpstreamFormat,
  request: ClientRequest,
  route: Route,
): Promise<OutboundRequest> {
  const isForwarded = format === request.codec.format
  if (!isForwarded) await request.decode()
  await request.nextStep()
  const outbound = isForwarded ? forward(request, route) : translate(request, route, format)
  return reportOmittedFields(request, outbound)
}

function forward(request: ClientRequest, route: Route): OutboundRequest {
  const { codec, call } = request
  const { search, droppedInPassthrough = [] } = call
  const { model, traits } = route.target
  const adapt = adapting(request, route, codec.format)
  const encoding =
    (searchesMax?: number): OutboundRequest['encode'] =>
    async (outputTokensMax) => {
      await request.nextStep()
      const change = { model, traits, outputTokensMax, searchesMax, adapt }
      return codec.forwardRequest(request.content, change)
    }
  const plain: OutboundRequest = {
    route,
    codec,
    outputTokensMax: outputLimitOf(route),
    inputTokens: route.provider.countInput?.(codec.format, request.content.value),
    searchesMax: 0,
    keepsLong: codec.format === 'chat' && call.input.cacheWrites === 'long',
    dropped: [...call.dropped, ...droppedInPassthrough],
    content: () => request.content.value,
    encode: encoding(),
  }
  if (search === undefined || route.target.price.fees.webSearch === null) return plain
  const { searchesMax, dropped } = search
  return {
    ...plain,
    searchesMax,
    dropped: [...dropped, ...droppedInPassthrough],
    withoutSearches: plain,
    encode: encoding(searchesMax),
  }
}

/** What a route is sent in place of the client's values. */
function changeAt({ target: { model, traits } }: Route): Pick<RequestChange, 'model' | 'traits'> {
  return { model, traits }
}

/** How the route's provider differs from others of its format. */
function adapting(
  { inbound: { providerHeaders: headers } }: ClientRequest,
  { provider: { adapt }, target: { model } }: Route,
  format: UpstreamFormat,
): RequestChange['adapt'] {
  return adapt && ((body) => adapt({ format, model, body, headers }))
}

function outputLimitOf({ isFallback, target }: Route): number | undefined {
  return isFallback ? target.maxOutput : undefined
}

function translate(request: ClientRequest, route: Route, format: UpstreamFormat): OutboundRequest {
  const { call, canonical } = request
  const codec = UPSTREAM_CODECS[format]
  const change = changeAt(route)
  const adapt = adapting(request, route, format)
  const encoded = (outputTokensMax?: number): JsonObject =>
    codec.encodeRequest({ ...request.canonical, ...change, ...defined({ outputTokensMax }) })
  // Encoded here as well, so that what the format cannot say is refused before anything is reserved.
  const content = encoded()
  const lost = lossesOf(canonical, request.codec.format, { losses: codec.losses, ...change })
  return {
    route,
    codec,
    outputTokensMax: outputLimitOf(route),
    inputTokens: route.provider.countInput?.(format, content),
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

/** Some providers refuse fields that others of their format accept. Their code leaves them out, and the client is told. */
function reportOmittedFields(request: ClientRequest, outbound: OutboundRequest): OutboundRequest {
  const { route, withoutSearches } = outbound
  if (route.provider.leavesOut === undefined) return outbound
  const { model } = route.target
  const { format } = outbound.codec
  const names = route.provider
    .leavesOut({
      format,
      model,
      body: outbound.content(),
      headers: request.inbound.providerHeaders,
    })
    .flatMap((name) => clientName(name, { from: format, to: request.codec.format }) ?? [])
  if (names.length === 0) return outbound
  const report = (one: OutboundRequest): OutboundRequest => ({
    ...one,
    dropped: [...new Set([...one.dropped, ...names])],
  })
  return {
    ...report(outbound),
    ...(withoutSearches && { withoutSearches: report(withoutSearches) }),
  }
}

function noRoute(model: string): GatewayError {
  return new GatewayError(
    'provider_failed',
    `no provider of the model ${model} can serve this request`,
  )
}

/** A slower provider is not waited for: there is another way to count. */
const COUNT_MS_MAX = 3_000

/**
 * The input tokens by the provider's own count; undefined if it gives none, none that can be true, or not in time. Costs
 * nothing but a round trip: worth it only if a client asks for a count, or if a request does not fit otherwise.
 */
export async function countAt(
  { route: { provider, target }, codec: { format }, content, inputTokens }: OutboundRequest,
  headers: ReadonlyMap<string, string>,
  closed: AbortSignal,
): Promise<number | undefined> {
  if (inputTokens !== undefined || provider.countTokens === undefined) return inputTokens
  const signal = AbortSignal.any([closed, AbortSignal.timeout(COUNT_MS_MAX)])
  try {
    const { model } = target
    const told = await provider.countTokens({ format, model, body: content(), headers }, signal)
    // The hold is made from it: a negative one would hold nothing.
    return Number.isSafeInteger(told) && Number(told) > 0 ? told : undefined
  } catch {
    closed.throwIfAborted()
    return undefined
  }
}
