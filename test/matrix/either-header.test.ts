// The official libraries with the headers they send by themselves, where the operator allows either header: Anthropic's
// of today sends Bearer, the one before it x-api-key, to every endpoint.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic-sdk-0'
import OpenAI from 'openai'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { play } from './play.ts'
import { anthropicMessages } from './speakers/anthropic.ts'

const config = 'auth: { headers: either }'

play({
  config,
  speakers: [
    anthropicMessages('anthropic 1 bearer', {
      connect: ({ url, key, fetch }) =>
        new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, fetch }),
      style: 'helpers',
    }),
  ],
})

describe('either header', () => {
  const model = 'sandbox-chat'
  const hello = { model, max_tokens: 20, messages: [{ role: 'user' as const, content: 'Hello' }] }
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startGateway({ config })
    key = await gateway.key('app', model)
  })
  after(() => gateway.stop())

  const clients: Record<string, (baseURL: string) => Anthropic> = {
    'anthropic 1, with an API key': (baseURL) => new Anthropic({ baseURL, apiKey: key }),
    'anthropic 1, with a token': (baseURL) =>
      new Anthropic({ baseURL, apiKey: null, authToken: key }),
    'anthropic 0, with an API key': (baseURL) =>
      new Anthropic0({ baseURL, apiKey: key }) as unknown as Anthropic,
    'anthropic 0, with a token': (baseURL) =>
      new Anthropic0({ baseURL, apiKey: null, authToken: key }) as unknown as Anthropic,
    // As coding agents do that were signed in to the vendor before.
    'anthropic 0, with a token beside another vendor’s key': (baseURL) =>
      new Anthropic0({ baseURL, apiKey: 'sk-ant-other', authToken: key }) as unknown as Anthropic,
  }
  for (const [name, connect] of Object.entries(clients))
    test(`${name}: writes, counts and lists models`, async () => {
      const client = connect(gateway.url)
      const { content } = await client.messages.create(hello)
      assert.ok(content.some(({ type }) => type === 'text'))
      const { input_tokens } = await client.messages.countTokens({
        model,
        messages: hello.messages,
      })
      assert.ok(input_tokens > 0)
      const listed = await Array.fromAsync(client.models.list())
      assert.deepEqual(
        listed.map(({ id }) => id),
        [model],
      )
      assert.equal((await client.models.retrieve(model)).id, model)
    })

  test('the OpenAI library works with x-api-key alone', async () => {
    const client = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: 'unused',
      defaultHeaders: { 'x-api-key': key, authorization: null },
    })
    const { input_tokens } = await client.responses.inputTokens.count({ model, input: 'x' })
    assert.ok(input_tokens > 0)
  })

  test('two different keys are refused, in the envelope of the family', async () => {
    const other = await gateway.key('other', model)
    for (const [path, envelope] of [
      ['/v1/models', { error: { code: 'invalid_api_key' } }],
      ['/v1/messages/count_tokens', { type: 'error', error: { code: 'invalid_api_key' } }],
    ] as const) {
      const response = await fetch(gateway.url + path, {
        ...(path === '/v1/models' ? {} : { method: 'POST', body: JSON.stringify(hello) }),
        headers: { authorization: `Bearer ${other}`, 'x-api-key': key },
      })
      assert.equal(response.status, 401)
      assert.partialDeepStrictEqual(await response.json(), envelope)
    }
  })
})
