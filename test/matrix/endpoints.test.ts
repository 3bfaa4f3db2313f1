// The endpoints other than the three conversation formats, through the libraries that support them: stored responses,
// embeddings, models, token counts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { OpenAIEmbeddings } from '@langchain/openai'
import { embedMany } from 'ai'
import Anthropic0 from 'anthropic-sdk-0'
import OpenAI from 'openai'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

const CHATS = ['sandbox-chat', 'sandbox-chat@responses', 'sandbox-chat@messages']
const REASONERS = ['sandbox-reasoner', 'sandbox-reasoner@responses', 'sandbox-reasoner@messages']

let gateway: TestGateway
let key: string
let openai: OpenAI

before(async () => {
  gateway = await startGateway()
  key = await gateway.key('app', [...CHATS, ...REASONERS, 'sandbox-embedding'].join(','))
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
})
after(() => gateway.stop())

const anthropics = (): Record<string, Anthropic> => ({
  'anthropic 1': new Anthropic({
    baseURL: gateway.url,
    apiKey: key,
    defaultHeaders: { 'x-api-key': key },
    maxRetries: 0,
  }),
  'anthropic 0': new Anthropic0({
    baseURL: gateway.url,
    apiKey: key,
    maxRetries: 0,
  }) as unknown as Anthropic,
})

describe('stored responses', () => {
  for (const model of [...CHATS, ...REASONERS])
    for (const mode of ['plain', 'streamed'] as const) {
      const create = (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
        mode === 'plain'
          ? openai.responses.create(body)
          : openai.responses.stream({ ...body, stream: true }).finalResponse()

      test(`${model}, ${mode}: can be continued, read, listed and deleted`, async () => {
        const first = await create({ model, input: 'Say one' })
        const second = await create({ model, input: 'Say two', previous_response_id: first.id })
        assert.equal(second.previous_response_id, first.id)
        assert.equal(second.output_text, 'two')

        const shown = await openai.responses.retrieve(second.id)
        assert.deepEqual(
          shown.output.map(({ id }) => id),
          second.output.map(({ id }) => id),
        )
        assert.equal(shown.output_text, 'two')
        assert.deepEqual([shown.id, shown.model, shown.status], [second.id, model, 'completed'])

        const items = await Array.fromAsync(
          openai.responses.inputItems.list(second.id, { order: 'asc', limit: 1 }),
        )
        assert.deepEqual(
          items
            .filter((item) => item.type === 'message')
            .map(({ role, content }) => [role, content.map((part) => 'text' in part && part.text)]),
          [
            ['user', ['Say one']],
            ['assistant', ['one']],
            ['user', ['Say two']],
          ],
        )

        await openai.responses.delete(first.id)
        await assert.rejects(openai.responses.retrieve(first.id), OpenAI.NotFoundError)
        // Later responses built on it remain.
        const third = await create({ model, input: 'Say three', previous_response_id: second.id })
        assert.equal(third.output_text, 'three')
        await assert.rejects(
          create({ model, input: 'x', previous_response_id: first.id }),
          (error) =>
            error instanceof OpenAI.BadRequestError && error.code === 'previous_response_not_found',
        )
      })

      test(`${model}, ${mode}: a tool result may refer to its call by the id alone`, async () => {
        const tools: OpenAI.Responses.FunctionTool[] = [
          {
            type: 'function',
            name: 'get_weather',
            strict: false,
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
        ]
        const asked = await create({ model, tools, input: 'What is the weather in Paris?' })
        const [call_id = ''] = asked.output.flatMap((item) =>
          item.type === 'function_call' ? item.call_id : [],
        )
        const answered = await create({
          model,
          tools,
          previous_response_id: asked.id,
          input: [{ type: 'function_call_output', call_id, output: 'sunny' }],
        })
        assert.match(answered.output_text, /get_weather answered: “sunny”/)
      })
    }

  test('retrieving one as a stream is refused, because the library would wait for events', async () => {
    const { id } = await openai.responses.create({ model: 'sandbox-chat', input: 'x' })
    await assert.rejects(
      openai.responses.retrieve(id, { stream: true }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'stream',
    )
    assert.equal((await openai.responses.retrieve(id, { stream: false })).id, id)
  })

  test('a response with store: false is not found', async () => {
    const { id } = await openai.responses.create({
      model: 'sandbox-chat',
      input: 'x',
      store: false,
    })
    await assert.rejects(openai.responses.retrieve(id), OpenAI.NotFoundError)
  })
})

describe('embeddings', () => {
  const model = 'sandbox-embedding'
  const floats = (input: OpenAI.EmbeddingCreateParams['input'], dimensions?: number) =>
    openai.embeddings.create({
      model,
      input,
      encoding_format: 'float',
      ...(dimensions && { dimensions }),
    })

  test('openai 7: base64, which it requests by itself, equals floats', async () => {
    const packed = await openai.embeddings.create({ model, input: ['one', 'two'] })
    const plain = await floats(['one', 'two'])
    assert.deepEqual(
      packed.data.map(({ index, embedding }) => [index, embedding.length]),
      [
        [0, 1536],
        [1, 1536],
      ],
    )
    for (const [index, { embedding }] of plain.data.entries())
      assert.deepEqual(
        [...new Float32Array(embedding)],
        [...new Float32Array(packed.data[index]?.embedding ?? [])],
      )
    assert.deepEqual(packed.usage, { prompt_tokens: 2, total_tokens: 2 })
    assert.equal(packed.model, model)
  })

  test('openai 7: texts, tokens, lists of both and fewer dimensions are accepted', async () => {
    const lengths = async (...args: Parameters<typeof floats>): Promise<number[]> =>
      (await floats(...args)).data.map(({ embedding }) => embedding.length)
    assert.deepEqual(await lengths('one'), [1536])
    assert.deepEqual(await lengths([1, 2, 3]), [1536])
    assert.deepEqual(await lengths([[1, 2], [3]], 64), [64, 64])
    assert.deepEqual(await lengths(['one', 'two'], 8), [8, 8])
  })

  test('ai-sdk: several texts are embedded at once', async () => {
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key })
    const { embeddings, usage } = await embedMany({
      model: provider.embedding(model),
      values: ['sunny day', 'rainy night'],
    })
    assert.deepEqual(
      embeddings.map((each) => each.length),
      [1536, 1536],
    )
    assert.equal(usage.tokens, 6)
  })

  test('langchain: documents and a query are embedded alike', async () => {
    const embedder = new OpenAIEmbeddings({
      model,
      apiKey: key,
      configuration: { baseURL: `${gateway.url}/v1` },
      maxRetries: 0,
    })
    const documents = await embedder.embedDocuments(['one', 'two'])
    assert.deepEqual(await embedder.embedQuery('two'), documents[1])
  })

  test('a chat model refuses to embed, and an embedding model to chat', async () => {
    const wrongKind = (error: unknown): boolean =>
      error instanceof OpenAI.BadRequestError && error.code === 'wrong_model_kind'
    await assert.rejects(openai.embeddings.create({ model: 'sandbox-chat', input: 'x' }), wrongKind)
    await assert.rejects(openai.responses.create({ model, input: 'x' }), wrongKind)
  })
})

describe('models', () => {
  const names = [...CHATS, ...REASONERS, 'sandbox-embedding'].toSorted()

  test('openai 7: lists the key’s models, and retrieves one', async () => {
    const listed = await Array.fromAsync(openai.models.list())
    assert.deepEqual(listed.map(({ id }) => id).toSorted(), names)
    const one = await openai.models.retrieve('sandbox-chat@messages')
    assert.deepEqual([one.id, one.object], ['sandbox-chat@messages', 'model'])
    await assert.rejects(openai.models.retrieve('gpt-5'), OpenAI.NotFoundError)
  })

  test('anthropic 1, which sends Bearer: gets the same list in its own shape', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 })
    const listed = await Array.fromAsync(client.models.list())
    assert.deepEqual(listed.map(({ id }) => id).toSorted(), names)
    for (const { type, display_name, created_at } of listed) {
      assert.equal(type, 'model')
      assert.notEqual(display_name, '')
      assert.ok(!Number.isNaN(Date.parse(created_at)))
    }
    const ids = listed.map(({ id }) => id)
    const forth = await Array.fromAsync(client.models.list({ limit: 2 }))
    assert.deepEqual(
      forth.map(({ id }) => id),
      ids,
    )
    const last = ids.at(-1) ?? ''
    const pages = client.models.list({ limit: 2, before_id: last })
    const back = await Array.fromAsync((await pages).iterPages(), ({ data }) => data)
    assert.deepEqual(
      back.toReversed().flatMap((page) => page.map(({ id }) => id)),
      ids.slice(0, -1),
    )
  })
})

describe('token counts', () => {
  const prompt: Omit<Anthropic.MessageCountTokensParams, 'model'> = {
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
    tools: [{ name: 'get_weather', input_schema: { type: 'object', properties: {} } }],
  }
  for (const name of ['anthropic 1', 'anthropic 0'])
    for (const model of CHATS)
      test(`${name}, ${model}: the count equals what the call is then charged`, async () => {
        const client = anthropics()[name]
        assert.ok(client !== undefined)
        const { input_tokens } = await client.messages.countTokens({ model, ...prompt })
        const { usage } = await client.messages.create({ model, max_tokens: 100, ...prompt })
        assert.equal(input_tokens, usage.input_tokens)
        const bare = await client.messages.countTokens({ model, messages: prompt.messages })
        assert.ok(bare.input_tokens < input_tokens)
      })
})

describe('token counts of responses', () => {
  const prompt: OpenAI.Responses.InputTokenCountParams = {
    instructions: 'Be brief.',
    input: 'What is the weather in Paris?',
    tools: [
      {
        type: 'function',
        name: 'get_weather',
        strict: false,
        parameters: { type: 'object', properties: {} },
      },
    ],
  }
  const charged = async (body: object): Promise<number | undefined> => {
    const { usage } = await openai.responses.create({ ...body, stream: false })
    return usage?.input_tokens
  }
  for (const model of CHATS)
    test(`openai 7, ${model}: the count equals what the call is then charged`, async () => {
      const count = await openai.responses.inputTokens.count({ model, ...prompt })
      assert.deepEqual(count, {
        object: 'response.input_tokens',
        input_tokens: await charged({ model, ...prompt }),
      })
      const bare = await openai.responses.inputTokens.count({ model, input: 'What?' })
      assert.ok(bare.input_tokens < count.input_tokens)
    })

  test('a conversation kept here counts as a whole', async () => {
    const model = 'sandbox-chat'
    const first = await openai.responses.create({ model, input: 'Say '.repeat(500) })
    const more = { model, previous_response_id: first.id, input: 'Go on.' }
    const { input_tokens: tokens } = await openai.responses.inputTokens.count(more)
    assert.ok(tokens > 500)
    assert.equal(tokens, await charged(more))
    // Counting neither stores nor changes anything.
    assert.equal((await openai.responses.retrieve(first.id)).id, first.id)
    const gone = { model, previous_response_id: 'resp_none', input: 'x' }
    await assert.rejects(
      openai.responses.inputTokens.count(gone),
      (error) =>
        error instanceof OpenAI.BadRequestError && error.code === 'previous_response_not_found',
    )
  })

  test('it is free, needs the permission of responses, and obeys the allowlist', async () => {
    const clientOf = async (...settings: string[]): Promise<OpenAI> =>
      new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: await gateway.key(settings.join(' '), 'sandbox-chat', ...settings),
        maxRetries: 0,
      })
    const body = { model: 'sandbox-chat', input: 'x' }
    const poor = await clientOf('--budget', '0')
    const { data, response } = await poor.responses.inputTokens.count(body).withResponse()
    assert.ok(data.input_tokens > 0)
    const id = response.headers.get('x-request-id') ?? ''
    const noted: { endpoint: string; cost: string } = await poor.get(`/requests/${id}`)
    assert.deepEqual([noted.endpoint, noted.cost], ['responses', '0'])
    await assert.rejects(poor.responses.create(body), { status: 402 })

    const narrow = await clientOf('--permissions', 'chat,count_tokens')
    await assert.rejects(
      narrow.responses.inputTokens.count(body),
      (error) =>
        error instanceof OpenAI.PermissionDeniedError && error.code === 'endpoint_not_allowed',
    )
    await assert.rejects(
      poor.responses.inputTokens.count({ ...body, model: 'gpt-5' }),
      (error) =>
        error instanceof OpenAI.PermissionDeniedError && error.code === 'model_not_allowed',
    )
    await assert.rejects(
      poor.responses.inputTokens.count({ input: 'x' }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'model',
    )
  })
})
