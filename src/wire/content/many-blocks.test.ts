// Answers with more blocks than a function call can have arguments are decoded like any other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamFormat } from '../../core/endpoints.ts'
import type { JsonObject } from '../../core/json.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'

const MANY = 200_000

function many(entry: JsonObject): readonly JsonObject[] {
  return Array<JsonObject>(MANY).fill(entry)
}

const CITED = { type: 'url_citation', url_citation: { url: 'https://example.com' } }
const SPOKEN = { type: 'output_text', text: 'a' }
const SIGNED = { text: 'a', thoughtSignature: 'c2ln' }

const ANSWERS: readonly (readonly [UpstreamFormat, string, JsonObject])[] = [
  ['chat', 'annotations', { choices: [{ message: { content: 'a', annotations: many(CITED) } }] }],
  ['responses', 'texts', { output: [{ type: 'message', content: many(SPOKEN) }] }],
  [
    'responses',
    'citations',
    { output: [{ type: 'message', content: [{ ...SPOKEN, annotations: many(CITED) }] }] },
  ],
  ['gemini', 'signed texts', { candidates: [{ content: { parts: many(SIGNED) } }] }],
]

for (const [format, what, answer] of ANSWERS)
  test(`${format}: ${MANY} ${what}`, () => {
    assert.ok(UPSTREAM_CODECS[format].decodeResponse(answer).length > MANY)
  })
