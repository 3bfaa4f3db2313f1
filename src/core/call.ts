// What admission must know of a request, whatever its format: which model, how much it may read and write, what it
// needs. Read leniently, because where the formats match the provider judges the request, not the gateway.
import type { Ability } from './endpoints.ts'

export type Call = {
  readonly model: string
  readonly stream: boolean
  readonly input: InputMeasure
  readonly output: OutputLimits
  readonly needs: readonly Ability[]
  /** What is removed from the request whatever format the provider speaks, under the client's names. */
  readonly dropped: readonly string[]
  /** What is removed only where the provider speaks the client's format: thoughts that another format has sealed. */
  readonly droppedAtHome?: readonly string[]
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
  /** How many of those are sealed thoughts, which no tokenizer can count. */
  readonly sealedBytes?: number
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
  /** A budget the client set for thinking; an output limit below it makes no sense. */
  readonly thinkingTokens?: number
  /** The client asked for thinking, so an answer needs room for it. */
  readonly thinks: boolean
}
