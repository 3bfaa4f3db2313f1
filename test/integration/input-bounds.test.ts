// The bound of a request's input against real tokenizers, where most of it is framing: thousands of messages, or parts
// of one, of a single character each. Chat templates add a role or a line break around each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import * as r50k from 'gpt-tokenizer/encoding/r50k_base'
import { encodeChat as encodeGpt35 } from 'gpt-tokenizer/model/gpt-3.5-turbo'
import { encodeChat as encodeGpt4o } from 'gpt-tokenizer/model/gpt-4o'
import { inputBound, recountedBound } from '../../src/catalog/worst-case.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { CODECS } from '../../src/wire/codecs.ts'
import { textsOf } from '../../src/wire/contract/measure.ts'

const TIMES = 5_000
const WINDOW = { context: 10_000_000, imageTokens: 0 }
/** One, two and three tokens in most vocabularies. */
const CHARACTERS = ['x', 'ǂ', '𓀀']

type Told = { readonly role: 'user' | 'assistant'; readonly content: string }

const tokenizers: readonly (readonly [string, (conversation: readonly Told[]) => number])[] = [
  ['gpt-4o', (conversation) => encodeGpt4o(conversation).length],
  ['gpt-3.5-turbo', (conversation) => encodeGpt35(conversation).length],
  ['o200k, as a play', (conversation) => o200k.countTokens(asPlay(conversation))],
  ['cl100k, as a play', (conversation) => cl100k.countTokens(asPlay(conversation))],
  ['r50k, as a play', (conversation) => r50k.countTokens(asPlay(conversation))],
]

const bodies = {
  chat: (told: readonly Told[]): JsonObject => ({ messages: told }),
  responses: (told: readonly Told[]): JsonObject => ({ input: told }),
  messages: (told: readonly Told[]): JsonObject => ({ max_tokens: 9, messages: told }),
}

const partTypes = { chat: 'text', responses: 'input_text', messages: 'text' }

for (const format of ['chat', 'responses', 'messages'] as const) {
  for (const character of CHARACTERS) {
    test(`${format}: the bound covers ${TIMES} messages of one ${character}`, () => {
      const told = Array.from({ length: TIMES }, (_, index): Told => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: character,
      }))
      const { bytes, recount } = boundsOf(format, bodies[format](told))
      for (const [name, count] of tokenizers) {
        const tokens = count(told)
        assert.ok(tokens <= bytes, `${name} counts ${tokens}, ${bytes} by the bytes`)
        assert.ok(tokens <= recount, `${name} counts ${tokens}, ${recount} once recounted`)
      }
    })

    test(`${format}: the bound covers ${TIMES} parts of one ${character}`, () => {
      const part = { type: partTypes[format], text: character }
      const content = Array.from({ length: TIMES }, () => part)
      const body = bodies[format]([{ role: 'user', content: content as never }])
      const { bytes, recount } = boundsOf(format, body)
      const lines = `${character}\n`.repeat(TIMES)
      for (const { countTokens } of [o200k, cl100k, r50k]) {
        const tokens = countTokens(lines)
        assert.ok(tokens <= bytes, `${tokens} tokens, ${bytes} by the bytes`)
        assert.ok(tokens <= recount, `${tokens} tokens, ${recount} once recounted`)
      }
    })
  }

  test(`${format}: the bound covers a made-up role`, () => {
    const role = 'a role of many words '.repeat(1_000)
    const { bytes } = boundsOf(format, bodies[format]([{ role: role as 'user', content: 'x' }]))
    assert.ok(bytes >= role.length)
  })
}

/** The bound by bytes alone, and the bound with the texts counted as admission counts them. */
function boundsOf(format: keyof typeof bodies, body: JsonObject) {
  const { readCall } = CODECS[format]
  const asked = { model: 'm', ...body }
  const { input } = readCall(asked)
  let textTokens = 0
  for (const text of textsOf(readCall, asked)) textTokens += o200k.countTokens(text)
  return {
    bytes: inputBound(input, 'chat', WINDOW),
    recount: recountedBound(input, textTokens, { kind: 'chat', window: WINDOW }),
  }
}

function asPlay(conversation: readonly Told[]): string {
  return conversation.map(({ role, content }) => `\n\n${role}: ${content}`).join('')
}
