// The tier that costs nothing extra is sent in the provider's own word, whichever of the two a client used.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ChatFormat } from '../core/endpoints.ts'
import type { JsonObject } from '../core/json.ts'
import { codecOf } from './codecs.ts'

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const BODIES: Record<ChatFormat, JsonObject> = {
  chat: { model: 'm', messages: MESSAGES },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', messages: MESSAGES, max_tokens: 10 },
}
const PLAIN: Record<ChatFormat, string> = {
  chat: 'default',
  responses: 'default',
  messages: 'standard_only',
}
const FORMATS = Object.keys(BODIES) as ChatFormat[]

for (const client of FORMATS)
  for (const word of new Set(Object.values(PLAIN)))
    test(`${word} from a ${client} client is sent in each provider’s own word`, () => {
      const request = codecOf(client).decodeRequest({ ...BODIES[client], service_tier: word })
      for (const provider of FORMATS) {
        const told = codecOf(provider).encodeRequest(request)['service_tier']
        assert.equal(told, PLAIN[provider], provider)
      }
    })
