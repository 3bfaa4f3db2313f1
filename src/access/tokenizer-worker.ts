// The thread in which texts are counted: the o200k vocabulary takes a third of a second to load and long texts take
// time, and neither may hold up a stream.
import { parentPort } from 'node:worker_threads'

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

export type CountRequest = { readonly id: number; readonly texts: readonly string[] }
export type CountReply = { readonly id: number; readonly tokens: number }

/** The tokenizer's time grows with the square of a run without spaces, so texts are cut; that only adds tokens. */
const PIECE_CHARACTERS = 512
/** Texts of clients may contain anything: what looks like a special token is text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

parentPort?.on('message', ({ id, texts }: CountRequest) => {
  let tokens = 0
  for (const text of texts) {
    for (let start = 0; start < text.length; start += PIECE_CHARACTERS) {
      tokens += countTokens(text.slice(start, start + PIECE_CHARACTERS), AS_TEXT)
    }
  }
  parentPort?.postMessage({ id, tokens } satisfies CountReply)
})
