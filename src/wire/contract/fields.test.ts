// Files in the account that all keys share, distinguished from what only looks like one. That each is refused, in every
// format and place, is tested with the whole gateway (test/matrix/isolation.test.ts).
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { codecOf } from '../codecs.ts'
import { REFUSED_FIELDS } from './fields.ts'

const TALK = 's3://bucket/x is where it lies'

const turn = (role: string, ...content: JsonObject[]): JsonObject => ({ role, content })

test('texts that mention such files are accepted', () => {
  codecOf('chat').readCall({
    model: 'm',
    messages: [turn('user', { type: 'text', text: TALK })],
  })
  codecOf('messages').readCall({
    model: 'm',
    max_tokens: 10,
    messages: [turn('user', { type: 'document', source: { type: 'text', data: TALK } })],
  })
})

function readImage(url: string): void {
  const image = { type: 'image_url', image_url: { url } }
  codecOf('chat').readCall({ model: 'm', messages: [turn('user', image)] })
}

test('public addresses and base64 are accepted, however they are spelled', () => {
  for (const url of [
    'HTTPS://a.example/x.png',
    ' http://a.example/x.png',
    'https://storage.googleapis.com/public/x.png',
    'https://a.example/generativelanguage.googleapis.com',
    'data:image/png;base64,iVBORw0K',
    '/9j/4AAQSkZJRgABAQ+/==',
    'about:blank',
    '',
  ]) {
    readImage(url)
  }
})

test('files of a server’s disk and of its account are refused, however they are spelled', () => {
  const disk = /use an http or data URL, because this one names a file on a provider's own disk$/
  const account = /use an http or data URL, because this one is read with the rights of a provider/
  for (const [url, why] of [
    ['FILE:///etc/passwd', disk],
    ['file:/etc/passwd', disk],
    // As Python reads them.
    ['fi\nle:///etc/passwd', disk],
    ['\0file:///etc/passwd', disk],
    ['g\ts://bucket/x', account],
    ['s3://bucket/x.png', account],
    // What was uploaded to Google, whoever did it.
    ['https://generativelanguage.googleapis.com/v1beta/files/abc', account],
    ['https://a@GENERATIVELANGUAGE.googleapis.com.:443/v1beta/files/abc', account],
    ['https://europe-west1-aiplatform.googleapis.com/v1/x', account],
    // A server such as SGLang opens a bare path.
    ['/srv/ann/passport.jpg', disk],
    ['../passport.png', disk],
  ] as const) {
    assert.throws(
      () => readImage(url),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'unsupported_parameter' &&
        why.test(error.message),
      JSON.stringify(url),
    )
  }
})

test('a citation in an earlier answer is not taken for a file to open', () => {
  const annotations = [{ type: 'file_citation', file_id: 'file-1', filename: 'x', index: 0 }]
  const said = { type: 'output_text', text: TALK, annotations }
  codecOf('responses').readCall({ model: 'm', input: [turn('assistant', said)] })
})

// Fields that no request may carry: refused by name in every format, unless their value means the same as no value.

const BODIES: Record<Format, JsonObject> = {
  chat: { model: 'm', messages: [] },
  responses: { model: 'm', input: 'x' },
  messages: { model: 'm', messages: [], max_tokens: 10 },
  embeddings: { model: 'm', input: 'x' },
}
const FORMATS = Object.keys(BODIES) as Format[]

/** Values that do not mean the same as leaving the field out. */
const GIVEN: Readonly<Record<string, Json>> = {
  options: { num_predict: 100_000 },
  google: { cached_content: 'cachedContents/1' },
  best_of: 8,
  n_cmpl: 8,
  multi_agent: { enabled: true, max_concurrent_subagents: 100 },
}

describe('fields that no request may carry', () => {
  for (const name of Object.keys(REFUSED_FIELDS))
    test(`${name} is refused in every format, unless it is null`, () => {
      for (const format of FORMATS) {
        const { readCall } = codecOf(format)
        const given = { ...BODIES[format], [name]: GIVEN[name] ?? 'x' }
        assert.throws(
          () => readCall(given),
          (error) =>
            error instanceof GatewayError &&
            error.code === 'unsupported_parameter' &&
            error.details.param === name,
        )
        readCall({ ...BODIES[format], [name]: null })
      }
    })

  test('a field that differs from a known one only in case is refused', () => {
    const names: Record<Format, readonly string[]> = {
      chat: ['Model', 'MAX_TOKENS', 'max_to\u212aens', 'N', 'N_Predict', 'me\u017f\u017fages'],
      responses: ['mODEL', 'Max_Output_Tokens', 'Service_Tier'],
      messages: ['Model', 'Max_Tokens', 'Anthropic_Beta'],
      embeddings: ['Model', 'Input', 'Extra_Body'],
    }
    for (const format of FORMATS)
      for (const name of names[format])
        assert.throws(
          () => codecOf(format).readCall({ ...BODIES[format], [name]: 7 }),
          (error) => error instanceof GatewayError && error.details.param === name,
          `${format}: ${name}`,
        )
    codecOf('chat').readCall({ ...BODIES.chat, myOwnField: 1, Größe: 2, 'x-y': 3 })
  })

  test('values that mean the same as leaving the field out are accepted', () => {
    const harmless: JsonObject = {
      background: false,
      deferred: false,
      service_tier: 'default',
      speed: 'standard',
      modalities: ['text'],
      search_parameters: { mode: 'off' },
      enable_search: false,
      auto_max_new_tokens: false,
      multi_agent: { enabled: false },
      options: { temperature: 0.5 },
      google: { thinking_config: { thinking_budget: 0 } },
      n_cmpl: 1,
      best_of: 1,
      mcp_servers: [],
      vector_store_ids: [],
    }
    for (const format of FORMATS) codecOf(format).readCall({ ...BODIES[format], ...harmless })
  })
})
