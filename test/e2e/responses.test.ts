// The responses endpoint as applications use it: the official SDK and the AI SDK against a running gateway, for each
// format that a provider may speak; state that belongs to its key; and what an answer leaves behind.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import type { ModelMessage } from 'ai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import { loadConfig } from '../../src/config/load.ts'
import { systemClock } from '../../src/core/clock.ts'
import { objectOf } from '../../src/core/json.ts'
import type { Gateway } from '../../src/gateway.ts'
import { startGateway } from '../../src/gateway.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import { jsonLog } from '../../src/telemetry/log.ts'

const MODELS = [
  'sandbox-chat',
  'sandbox-chat@responses',
  'sandbox-chat@messages',
  'sandbox-reasoner',
  'sandbox-reasoner@responses',
  'sandbox-reasoner@messages',
] as const

const folder = mkdtempSync(join(tmpdir(), 'tollgate-responses-'))
const database = `sqlite:${join(folder, 'tollgate.db')}`
const source = {
  folder,
  env: { TOLLGATE_DATABASE: database, TOLLGATE_SECRET: 'a secret for tests, long enough' },
  options: { port: '0' },
}
let gateway: Gateway
let secret = ''
let strangersSecret = ''

before(async () => {
  gateway = await startGateway({
    config: loadConfig(source),
    source,
    log: jsonLog(systemClock, () => {}),
    onLost: () => {},
  })
  const store = await openStore(database, { clock: systemClock })
  const made = async (name: string): Promise<string> => {
    const limitNanodollars = 10_000_000_000n
    return (await createKey(store, { name, models: [...MODELS], limitNanodollars })).secret
  }
  secret = await made('mine')
  strangersSecret = await made('another')
  await store.close()
})
after(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true, force: true })
})

const client = (apiKey = secret) =>
  new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

const TOOL = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather somewhere.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
}

for (const model of MODELS) {
  describe(`the official SDK with ${model}`, () => {
    test('gets a whole answer', async () => {
      const response = await client().responses.create({
        model,
        input: 'Hello',
        metadata: { a: 'b' },
      })
      assert.equal(response.model, model)
      assert.equal(response.status, 'completed')
      assert.match(response.id, /^resp_/)
      assert.notEqual(response.output_text, '')
      assert.deepEqual(response.metadata, { a: 'b' })
      assert.ok((response.usage?.total_tokens ?? 0) > 0)
    })

    test('assembles a stream with the same answer', async () => {
      const input = '[[sandbox tokens=20]] Hello'
      const stream = client().responses.stream({ model, input })
      const numbers: number[] = []
      for await (const event of stream) numbers.push(event.sequence_number)
      const streamed = await stream.finalResponse()
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index),
      )
      const whole = await client().responses.create({ model, input })
      assert.equal(streamed.output_text, whole.output_text)
      assert.deepEqual(streamed.usage, whole.usage)
    })

    test('calls a tool and continues from the stored answer', async () => {
      const first = await client().responses.create({
        model,
        input: '[[sandbox tool=weather args={"city":"Bonn"}]] What is the weather?',
        tools: [TOOL],
      })
      const call = first.output.find((item) => item.type === 'function_call')
      assert.equal(call?.name, 'weather')
      assert.deepEqual(JSON.parse(call.arguments), { city: 'Bonn' })
      const second = await client().responses.create({
        model,
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }],
        tools: [TOOL],
      })
      assert.equal(second.status, 'completed')
      assert.equal(second.previous_response_id, first.id)
      const { data } = await client().responses.inputItems.list(second.id, { order: 'asc' })
      const types = data.map((item) => item.type).filter((type) => type !== 'reasoning')
      assert.deepEqual(types, ['message', 'function_call', 'function_call_output'])
    })

    test('learns that a limit cut the answer', async () => {
      const response = await client().responses.create({
        model,
        input: '[[sandbox tokens=200]] Go on and on.',
        max_output_tokens: 16,
      })
      assert.equal(response.status, 'incomplete')
      assert.deepEqual(response.incomplete_details, { reason: 'max_output_tokens' })
    })

    test('is told the output limit it sent, in every event and in storage', async () => {
      const asked = { model, input: '[[sandbox tokens=3]] Hello' }
      for (const max_output_tokens of [undefined, 50]) {
        const limit = max_output_tokens === undefined ? {} : { max_output_tokens }
        const stream = client().responses.stream({ ...asked, ...limit })
        for await (const event of stream) {
          if (!('response' in event)) continue
          assert.equal(event.response.max_output_tokens, max_output_tokens ?? null, event.type)
        }
        const { id } = await stream.finalResponse()
        const whole = await client().responses.create({ ...asked, ...limit })
        assert.equal(whole.max_output_tokens, max_output_tokens ?? null)
        for (const stored of [id, whole.id]) {
          const kept = await client().responses.retrieve(stored)
          assert.equal(kept.max_output_tokens, max_output_tokens ?? null)
        }
      }
    })

    test('is refused an input without items', async () => {
      await assert.rejects(client().responses.create({ model, input: [] }), (thrown) => {
        assert.ok(thrown instanceof OpenAI.APIError)
        assert.deepEqual(
          [thrown.status, thrown.code, thrown.param],
          [400, 'invalid_request', 'input'],
        )
        return true
      })
    })

    test('may name a response to compare caches with, which is left out', async () => {
      const { data, response } = await client()
        .responses.create({
          model,
          input: 'Hello',
          prompt_cache_options: { comparison_response_id: 'resp_1' },
        })
        .withResponse()
      assert.equal(data.status, 'completed')
      assert.match(
        response.headers.get('x-tollgate-dropped') ?? '',
        /prompt_cache_options\.comparison_response_id/,
      )
    })

    test('notices a broken stream', async () => {
      const stream = await client().responses.create({
        model,
        input: '[[sandbox tokens=50 cut=5]] Hello',
        stream: true,
      })
      const seen: string[] = []
      await assert.rejects(
        async () => {
          for await (const event of stream) seen.push(event.type)
        },
        (thrown) => {
          assert.ok(thrown instanceof OpenAI.APIError)
          assert.equal(thrown.code, 'server_error')
          assert.equal(objectOf(thrown.error)['tollgate_code'], 'provider_failed')
          return true
        },
      )
      assert.ok(seen.some((type) => type.endsWith('.delta')))
      assert.equal(seen.includes('response.completed'), false)
    })
  })

  test(`the AI SDK with ${model} uses a tool over two steps`, async () => {
    const provider = createOpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1` })
    const asked: string[] = []
    const result = await generateText({
      model: provider.responses(model),
      prompt: '[[sandbox tool=weather args={"city":"Bonn"}]] What is the weather?',
      stopWhen: stepCountIs(2),
      maxRetries: 0,
      tools: {
        weather: tool({
          description: 'The weather somewhere.',
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            asked.push(city)
            return 'sunny'
          },
        }),
      },
    })
    assert.equal(asked[0], 'Bonn')
    assert.equal(result.steps.length, 2)
  })

  test(`the AI SDK streams from ${model}, and refers to earlier items by id`, async () => {
    const sent: string[] = []
    const provider = createOpenAI({
      apiKey: secret,
      baseURL: `${gateway.url}/v1`,
      fetch: (url, init) => {
        sent.push(String(init?.body))
        return fetch(url, init)
      },
    })
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hello' }]
    for (let turn = 0; turn < 2; turn++) {
      const result = streamText({ model: provider.responses(model), messages, maxRetries: 0 })
      assert.notEqual(await result.text, '')
      messages.push(...(await result.response).messages, { role: 'user', content: 'Again' })
    }
    assert.match(sent[1] ?? '', /"item_reference"/)
  })
}

describe('a stored response', () => {
  const MODEL = 'sandbox-chat'

  test('can be read, listed and deleted', async () => {
    const made = await client().responses.create({ model: MODEL, input: 'Hello' })
    const { output_text: _, ...kept } = await client().responses.retrieve(made.id)
    const { output_text: __, ...given } = made
    assert.deepEqual(JSON.parse(JSON.stringify(kept)), JSON.parse(JSON.stringify(given)))
    const items = await client().responses.inputItems.list(made.id)
    assert.equal(items.data.length, 1)
    await client().responses.delete(made.id)
    await assert.rejects(client().responses.retrieve(made.id), refusal(404, 'response_not_found'))
    await assert.rejects(client().responses.delete(made.id), refusal(404, 'response_not_found'))
  })

  test('belongs to its key', async () => {
    const made = await client().responses.create({ model: MODEL, input: 'Hello' })
    const stranger = client(strangersSecret)
    await assert.rejects(stranger.responses.retrieve(made.id), refusal(404, 'response_not_found'))
    await assert.rejects(stranger.responses.delete(made.id), refusal(404, 'response_not_found'))
    await assert.rejects(
      stranger.responses.inputItems.list(made.id),
      refusal(404, 'response_not_found'),
    )
    await assert.rejects(
      stranger.responses.create({ model: MODEL, input: 'x', previous_response_id: made.id }),
      refusal(400, 'previous_response_not_found'),
    )
    const [item] = made.output
    await assert.rejects(
      stranger.responses.create({
        model: MODEL,
        input: [{ type: 'item_reference', id: item?.id ?? '' }],
      }),
      refusal(400, 'invalid_request'),
    )
    await client().responses.retrieve(made.id)
  })

  test('is not kept with store: false', async () => {
    const made = await client().responses.create({ model: MODEL, input: 'Hello', store: false })
    assert.equal((made as { store?: boolean }).store, false)
    await assert.rejects(client().responses.retrieve(made.id), refusal(404, 'response_not_found'))
  })

  test('can be continued with a model of another provider', async () => {
    let previous: string | undefined
    for (const model of [
      'sandbox-reasoner@messages',
      'sandbox-reasoner@responses',
      'sandbox-chat',
    ]) {
      const response: OpenAI.Responses.Response = await client().responses.create({
        model,
        input: 'Hello',
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      })
      assert.equal(response.status, 'completed')
      previous = response.id
    }
  })
})

function refusal(status: number, code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof OpenAI.APIError, String(error))
    assert.deepEqual([error.status, error.code], [status, code])
    return true
  }
}
