// The responses endpoint of a gateway that stores nothing: a client that asks for storage learns that there is none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { startGateway } from '../support/gateway.ts'

test('store: true is named as dropped if storing is off', async () => {
  await using gateway = await startGateway({ config: 'responses: { store: false }\n' })
  const models = ['sandbox-chat', 'sandbox-chat@responses']
  const apiKey = await gateway.key('forgetful', models.join())
  const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  for (const model of models)
    for (const [asked, dropped] of [
      [{ store: true }, 'store'],
      [{ store: false }, null],
      [{}, null],
    ] as const) {
      const sent = { model, input: 'Hello', ...asked }
      const { data, response } = await client.responses.create(sent).withResponse()
      assert.equal((data as { store?: boolean }).store, false)
      assert.equal(response.headers.get('x-tollgate-dropped'), dropped, JSON.stringify(sent))
    }
})
