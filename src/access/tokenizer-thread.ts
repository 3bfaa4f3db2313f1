// The thread that counts tokens: vocabularies take a third of a second to load and long texts take time to count, and
// neither may hold up a stream.
import { parentPort } from 'node:worker_threads'

import { countTokens as countOlder } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type CountRequest = { readonly id: number; readonly texts: readonly string[] }
export type CountReply = Count & { readonly id: number }

export type Count = {
  /** By the newer vocabulary. */
  readonly likely: number
  /** By whichever gives more. The older one, which embeddings use, gives four times as many tokens for some scripts. */
  readonly most: number
}

/** The tokenizer's time grows with the square of a run without spaces, so texts are cut. Cutting only adds tokens. */
const PIECE_CHARACTERS = 512
/** Clients may send anything: what looks like a special token is counted as text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** For ASCII both vocabularies give nearly the same count. */
const ASCII = /^[\0-\x7f]*$/

parentPort?.on('message', ({ id, texts }: CountRequest) => {
  let likely = 0
  let most = 0
  for (const text of texts) {
    for (let start = 0; start < text.length; start += PIECE_CHARACTERS) {
      const piece = text.slice(start, start + PIECE_CHARACTERS)
      const tokens = countTokens(piece, AS_TEXT)
      likely += tokens
      most += ASCII.test(piece) ? tokens : Math.max(tokens, countOlder(piece, AS_TEXT))
    }
  }
  parentPort?.postMessage({ id, likely, most } satisfies CountReply)
})
