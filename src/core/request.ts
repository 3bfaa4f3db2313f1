// What a client asks for, whatever format it used. The canonical request: every format decodes into it and encodes from
// it, so no format knows another. And the call: what admission must know of a request. Which features a format cannot
// express: `wire/contract/losses.ts`.
import type { Ability, ModelKind, UpstreamFormat } from './endpoints.ts'
import type { JsonObject } from './json.ts'

export type CanonicalRequest = Conversation | EmbeddingRequest

type RequestOf<Kind extends ModelKind> = {
  readonly kind: Kind
  /** The public name the client sent; providers are given their own name for it. */
  readonly model: string
  /** What this form cannot hold of the request, under the client's names; translation drops and reports it. */
  readonly dropped: readonly string[]
}

/** What is known about the target's model besides its name at the provider. */
export type ModelTraits = {
  /** Whether it reasons before it answers; unset = unknown. */
  readonly reasons?: boolean
  /** Names that may tell which model it is where the provider's own name is arbitrary; the best first. */
  readonly alsoKnownAs?: readonly string[]
}

/** The model that a request is sent to, by its provider's name for it. */
export type TargetModel = Pick<Conversation, 'model' | 'traits'>

/** Names that may show what a model accepts: its name at the provider and the names of the model behind it. */
export function knownNames({ model, traits }: TargetModel): readonly string[] {
  return [model, ...(traits?.alsoKnownAs ?? [])]
}

export type EmbeddingRequest = RequestOf<'embedding'> & {
  /** Texts, or texts already cut into token numbers. */
  readonly inputs: readonly (string | readonly number[])[]
  readonly dimensions?: number
  readonly encoding: 'float' | 'base64'
}

export type Conversation = RequestOf<'chat'> & {
  /** Set together with the provider's name for the model, if anything is known. */
  readonly traits?: ModelTraits
  readonly stream: boolean
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
  /** false = at most one tool call per answer. */
  readonly parallelToolCalls?: boolean
  readonly outputTokensMax?: number
  readonly outputFormat?: OutputFormat
  readonly verbosity?: (typeof VERBOSITIES)[number]
  readonly reasoning?: Reasoning
  /** The client has not asked to see reasoning, and its format shows none unless asked. */
  readonly hidesReasoning?: boolean
  readonly sampling: Sampling
  /** How many answers; 1 unless the client asked for more. */
  readonly choices: number
  readonly endUser?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly cacheKey?: string
  /** Marks the last cacheable part, wherever it is. */
  readonly cache?: CacheMark
  readonly serviceTier?: string
}

export type Sampling = {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly seed?: number
  readonly logitBias?: Readonly<Record<string, number>>
  readonly stop?: readonly string[]
  /** How many alternatives to report for each token; 0 = the token's own probability only. */
  readonly logprobs?: number
}

export type Message =
  | {
      readonly role: 'system' | 'developer'
      readonly parts: readonly TextPart[]
      readonly name?: string
    }
  | { readonly role: 'user'; readonly parts: readonly UserPart[]; readonly name?: string }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[]; readonly name?: string }
  | ToolMessage

/** The result of one tool call. */
export type ToolMessage = Cacheable & {
  readonly role: 'tool'
  readonly callId: string
  readonly parts: readonly (TextPart | ImagePart | FilePart)[]
  readonly isError?: boolean
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart
export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart

type Cacheable = { readonly cache?: CacheMark }
/** A point up to which a provider may cache the prompt, with the client's lifetime; unset = the provider's default. */
export type CacheMark = { readonly ttl?: string }

export type Cached = Tool | Message | Message['parts'][number]

export function isCacheMarked(one: Cached): one is Cached & { readonly cache: CacheMark } {
  return 'cache' in one && one.cache !== undefined
}

export function cacheMarksIn({ tools, messages, cache }: Conversation): number {
  const all = [...tools, ...messages.flatMap((one): Cached[] => [one, ...one.parts])]
  return all.filter(isCacheMarked).length + (cache === undefined ? 0 : 1)
}

export type TextPart = Cacheable & { readonly type: 'text'; readonly text: string }
export type RefusalPart = { readonly type: 'refusal'; readonly text: string }
export type ImagePart = Cacheable & {
  readonly type: 'image'
  readonly source: Base64Source | UrlSource
  readonly detail?: string
}
export type FilePart = Cacheable & {
  readonly type: 'file'
  readonly source: Base64Source | UrlSource | { readonly type: 'text'; readonly text: string }
  readonly name?: string
}
export type AudioPart = { readonly type: 'audio'; readonly data: string; readonly encoding: string }
export type Base64Source = {
  readonly type: 'base64'
  readonly mediaType: string
  readonly data: string
}
export type UrlSource = { readonly type: 'url'; readonly url: string }

export type ToolCallPart = Cacheable & {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text for a function, free text for a custom tool; exactly as the model wrote it. */
  readonly input: string
  readonly custom: boolean
}

export type ReasoningPart = {
  readonly type: 'reasoning'
  readonly text: string
  readonly opaque?: OpaqueReasoning
}

/**
 * What a provider needs to see again to trust its own reasoning: a signature, an encrypted state, or the whole of it
 * when it is redacted. It has a meaning only in the format that made it.
 */
export type OpaqueReasoning = {
  readonly format: UpstreamFormat
  readonly kind: 'signature' | 'redacted' | 'encrypted'
  readonly value: string
  /** The item id that belongs to an encrypted state. */
  readonly id?: string
  /** How it is written, where a provider says so: some pass on the answers of several others. */
  readonly dialect?: string
}

export type Tool =
  | (Cacheable & {
      readonly type: 'function'
      readonly name: string
      readonly description?: string
      readonly schema: JsonObject
      readonly strict?: boolean
    })
  | (Cacheable & {
      readonly type: 'custom'
      readonly name: string
      readonly description?: string
      /** A grammar (`{type:'grammar', syntax, definition}`) or another input format. */
      readonly inputFormat?: JsonObject
    })

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string }
  | { readonly type: 'allowed'; readonly names: readonly string[]; readonly required: boolean }

export type OutputFormat =
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema'
      readonly name: string
      readonly description?: string
      readonly schema: JsonObject
      readonly strict?: boolean
    }

export const VERBOSITIES = ['low', 'medium', 'high'] as const

/** From the least to the most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

export type Reasoning = {
  readonly effort?: Effort
  /** A separate limit for reasoning, where the client set one. */
  readonly tokensMax?: number
  /** How reasoning is shown: as a summary or not at all; unset = the provider decides. */
  readonly display?: 'summary' | 'omitted'
}

/**
 * What admission must know of a request: which model, how much it may read and write, what it needs. Read leniently,
 * because where the formats match the provider judges the request, not the gateway.
 */
export type Call = {
  readonly model: string
  readonly stream: boolean
  readonly input: InputMeasure
  readonly output: OutputLimits
  readonly needs: readonly Ability[]
  /** What is removed from the request whatever format the provider speaks, under the client's names. */
  readonly dropped: readonly string[]
  /** What is removed only where the provider speaks the client's format: reasoning of another format. */
  readonly droppedInPassthrough?: readonly string[]
  /** Web searches for the provider to run; they are passed on only where they have a price. */
  readonly search?: Search
  /** The client's own labels, recorded with the usage. */
  readonly endUser?: string
  readonly metadata?: Readonly<Record<string, string>>
}

type Search = {
  /** The client's limit, else the usual one. */
  readonly searchesMax: number
  /** As `Call.dropped`, where the request may search. */
  readonly dropped: readonly string[]
}

/** The limit of searches where the client sets none. */
const SEARCHES_USUAL = 5
/** The largest it may set, and more than any provider runs for one request. */
export const SEARCHES_MOST = 100

/** How many searches a client's limit allows; anything that is not a valid limit counts as unset. */
export function searchesWithin(limit: unknown): number {
  const isLimit = typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0
  return isLimit ? Math.min(limit, SEARCHES_MOST) : SEARCHES_USUAL
}

/** How much the model will read, in quantities that bound it from above; catalog/worst-case.ts turns them into tokens. */
export type InputMeasure = {
  /** UTF-8 bytes of prose: at most one token each. */
  readonly textBytes: number
  /** How many of those are opaque reasoning, which no tokenizer can count. */
  readonly opaqueBytes?: number
  /** UTF-8 bytes of tool schemas, tool results and other JSON, which providers rewrite: at most three tokens each. */
  readonly jsonBytes: number
  /** Messages and other items that cost a few tokens of framing each. */
  readonly items: number
  readonly images: number
  /** Tools that a model knows by their type: their definitions, which it reads too, are not in the request. */
  readonly vendorTools?: number
  /** Something whose size its bytes do not bound (PDF, URL, audio): only the context window does. */
  readonly unbounded: boolean
  /** Some of it may be sound, which some providers bill at a separate rate. */
  readonly audio?: true
  /** Some of it is behind a URL, where the model may find something other than what was counted. */
  readonly fetched?: true
  /** Token numbers sent instead of text count one each. */
  readonly tokens: number
  /** Whether the body asks for cache writes, which cost more than plain input, and for how long. */
  readonly cacheWrites: 'none' | 'short' | 'long'
}

/** The measure of a request with nothing to read. */
export const NO_INPUT: InputMeasure = {
  textBytes: 0,
  jsonBytes: 0,
  items: 0,
  images: 0,
  unbounded: false,
  tokens: 0,
  cacheWrites: 'none',
}

export type OutputLimits = {
  /** What the client set; unset = the model's default applies. */
  readonly tokensMax?: number
  readonly choices: number
  /** A budget the client set for reasoning; an output limit below it makes no sense. */
  readonly reasoningBudget?: number
  /** The client asked for reasoning, so an answer needs room for it. */
  readonly reasons: boolean
}
