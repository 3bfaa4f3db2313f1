// The canonical answer: a closed union of events. A streamed answer is these events over time, a whole answer is the
// same events at once, and every format encodes from them and decodes into them.
import type { OpaqueReasoning } from './request.ts'

/** Blocks of one choice are numbered 0, 1, 2 … across all kinds, never interleave, and each ends before the next. */
type BlockPosition = { readonly choice: number; readonly block: number }

export type CanonicalEvent =
  | { readonly type: 'response-start'; readonly id: string; readonly model: string }
  | (BlockPosition & { readonly type: 'text-start' })
  | (BlockPosition & {
      readonly type: 'text-delta'
      readonly text: string
      readonly logprobs?: readonly TokenLogprob[]
    })
  | (BlockPosition & { readonly type: 'text-citation'; readonly citation: Citation })
  | (BlockPosition & { readonly type: 'text-end' })
  | (BlockPosition & { readonly type: 'refusal-start' })
  | (BlockPosition & { readonly type: 'refusal-delta'; readonly text: string })
  | (BlockPosition & { readonly type: 'refusal-end' })
  | (BlockPosition & { readonly type: 'reasoning-start' })
  | (BlockPosition & { readonly type: 'reasoning-delta'; readonly text: string })
  | (BlockPosition & { readonly type: 'reasoning-end'; readonly opaque?: OpaqueReasoning })
  | (BlockPosition & {
      readonly type: 'tool-call-start'
      readonly id: string
      readonly name: string
      readonly custom: boolean
    })
  | (BlockPosition & { readonly type: 'tool-call-delta'; readonly text: string })
  | (BlockPosition & { readonly type: 'tool-call-end' })
  | ChoiceEnd
  /** Citations that came after the end of the text they belong to, where no format has a place for them. */
  | { readonly type: 'citations-lost' }
  /** The provider ran a web search, which costs something each time. */
  | { readonly type: 'search' }
  | { readonly type: 'embedding'; readonly index: number; readonly vector: readonly number[] }
  | UsageEvent
  /** The provider marked its answer as complete. Without this event an answer is cut off, whatever else it contains. */
  | { readonly type: 'response-end' }
  | { readonly type: 'ping' }

/** Totals so far, never increments: the last one counts. */
export type UsageEvent = {
  readonly type: 'usage'
  readonly usage: Usage
  /** The service tier of the answer, if it is not the standard one. */
  readonly tier?: ServiceTier
}

/** Tiers other than the standard one, by the names that the chat family uses. */
export const SERVICE_TIERS = ['flex', 'scale', 'priority', 'ultrafast'] as const
export type ServiceTier = (typeof SERVICE_TIERS)[number]

export type ChoiceEnd = {
  readonly type: 'choice-end'
  readonly choice: number
  readonly reason: FinishReason
  /** The stop sequence that was met, where the provider reports it; null = it does not say which one. */
  readonly stopSequence?: string | null
  /** Why the provider refused, in its words. */
  readonly explanation?: string
}

/** limit = the output limit was reached; context = the context window was; refusal = the provider's policy ended it. */
export type FinishReason = 'stop' | 'limit' | 'context' | 'tool-call' | 'refusal' | 'pause'

/** Token counts by what is billed differently. Totals include their parts, as the chat family counts. */
export type Usage = {
  /** Everything the model read, cached and newly cached parts included. */
  readonly inputTokens: number
  readonly cachedTokens: number
  /** Written to a cache in this request, both lifetimes together. */
  readonly cacheWriteTokens: number
  /** Of those, the part kept for an hour or longer. */
  readonly cacheWriteLongTokens: number
  /** Everything the model wrote, reasoning included. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Input tokens of audio, if there were any: some providers bill them separately. */
  readonly audioTokens?: number
  /** Web searches that the provider ran and bills one by one, if there were any. */
  readonly webSearches?: number
}

export type TokenLogprob = {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[] | null
  readonly top: readonly {
    readonly token: string
    readonly logprob: number
    readonly bytes: readonly number[] | null
  }[]
}

export type Citation = {
  readonly url: string
  readonly title: string
  /** Where in the block's text the citation stands, counted in characters. */
  readonly start: number
  readonly end: number
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteLongTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
}
