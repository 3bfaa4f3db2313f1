// The official libraries' own tool loops: ask, call the tools, ask again, until there is an answer.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import OpenAI from 'openai'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { previousAnthropic } from './speakers/previous.ts'

const MODELS = ['sandbox-reasoner', 'sandbox-reasoner@responses', 'sandbox-reasoner@messages']
const QUESTION = { role: 'user', content: 'What is the weather in Paris?' } as const
const ANSWER = /get_weather answered: “sunny in Paris”/

const NAME = 'get_weather'
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } } as const
const weatherIn = (city: unknown): string => `sunny in ${String(city)}`

describe('a library’s own tool loop ends with an answer', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startGateway()
    key = await gateway.key('app', MODELS.join(','))
  })
  after(() => gateway.stop())

  const anthropics: Readonly<Record<string, () => Anthropic>> = {
    'anthropic 1': () =>
      new Anthropic({
        baseURL: gateway.url,
        apiKey: key,
        defaultHeaders: { 'x-api-key': key },
      }),
    'anthropic 0': () => previousAnthropic({ url: gateway.url, key, fetch }),
  }

  for (const model of MODELS)
    for (const stream of [false, true]) {
      const where = `${model}, ${stream ? 'streamed' : 'plain'}`

      for (const [name, connect] of Object.entries(anthropics))
        test(`${name} on ${where}`, async () => {
          const weather = betaTool({
            name: NAME,
            description: 'The weather in a city',
            inputSchema: SCHEMA,
            run: ({ city }) => weatherIn(city),
          })
          const asked = { model, max_tokens: 1000, messages: [QUESTION], tools: [weather], stream }
          const { content } = await connect().beta.messages.toolRunner(asked).runUntilDone()
          const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
          assert.match(text, ANSWER)
        })

      test(`openai on ${where}`, async () => {
        const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key })
        const weather = {
          type: 'function' as const,
          function: {
            name: NAME,
            description: 'The weather in a city',
            parameters: SCHEMA,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => weatherIn(city),
          },
        }
        const asked = { model, messages: [QUESTION], tools: [weather] }
        const loop = stream
          ? client.chat.completions.runTools({ ...asked, stream })
          : client.chat.completions.runTools(asked)
        assert.match((await loop.finalContent()) ?? '', ANSWER)
      })
    }
})
