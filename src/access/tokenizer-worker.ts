// The thread in which texts are counted: vocabularies take a third of a second to load and long texts take time, and
// neither may hold up a stream.
import { parentPort } from 'node:worker_threads'

import { countTokens as countOlder } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type CountRequest = { readonly id: number; readonly texts: readonly string[] }
export type CountReply = Count & { readonly id: number }

export type Count = {
  /** By the newer vocabulary. */
  readonly likely: number
  /** By the one that makes more of it. The older one, which embeddings use, makes four times as much of some scripts. */
  readonly most: number
}

/** The tokenizer's time grows with the square of a run without spaces, so texts are cut; that only adds tokens. */
const PIECE_CHARACTERS = 512
/** Texts of clients may contain anything: what looks like a special token is text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** Both make nearly the same of it. */
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
