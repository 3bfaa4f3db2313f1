// The service tier in each format's own words: the one that costs nothing extra, whichever of its two names a client
// used, and the one in which a provider says it served an answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerContext } from '../../../test/samples/answer.ts'
import type { ChatFormat, TargetFormat } from '../../core/endpoints.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectOf } from '../../core/json.ts'
import { CODECS, UPSTREAM_CODECS } from '../codecs.ts'
import { sseEvent } from './sse.ts'

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
      const request = CODECS[client].decodeRequest({ ...BODIES[client], service_tier: word })
      for (const provider of FORMATS) {
        const told = CODECS[provider].encodeRequest(request)['service_tier']
        assert.equal(told, PLAIN[provider], provider)
      }
    })

type Teller = Exclude<TargetFormat, 'gemini'>

/** A whole answer of each provider that names its tier. */
const ANSWERS: Record<Teller, (tier: string) => JsonObject> = {
  chat: (service_tier) => ({
    choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    service_tier,
  }),
  responses: (service_tier) => ({
    status: 'completed',
    output: [],
    usage: { input_tokens: 1, output_tokens: 1 },
    service_tier,
  }),
  messages: (service_tier) => ({
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1, service_tier },
  }),
  converse: (type) => ({
    output: { message: { content: [{ text: 'Hi' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1 },
    serviceTier: { type },
  }),
}

function toldTier(client: ChatFormat, provider: Teller, tier: string): unknown {
  const events = UPSTREAM_CODECS[provider].decodeResponse(ANSWERS[provider](tier))
  const answer = CODECS[client].encodeResponse(events, answerContext(BODIES[client]))
  return client === 'messages' ? objectOf(answer['usage'])['service_tier'] : answer['service_tier']
}

const STANDARD = { chat: undefined, responses: 'default', messages: 'standard' }

for (const provider of Object.keys(ANSWERS) as Teller[])
  for (const client of FORMATS)
    test(`a client of ${client} reads in which tier ${provider} served it`, () => {
      assert.equal(toldTier(client, provider, 'priority'), 'priority')
      // The messages format has no word for a cheaper tier.
      assert.equal(toldTier(client, provider, 'flex'), client === 'messages' ? null : 'flex')
      for (const usual of ['default', 'standard', 'batch', 'auto', 'on_demand'])
        assert.equal(toldTier(client, provider, usual), STANDARD[client], usual)
    })

test('a tier that a messages stream names at its beginning is told at the end of a chat stream', () => {
  const decode = CODECS.messages.decodeEvents()
  const body = { stream: true, stream_options: { include_usage: true } }
  const encoder = CODECS.chat.encodeEvents(answerContext(body))
  const frames = [
    { type: 'message_start', message: { usage: { input_tokens: 1, service_tier: 'priority' } } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const told = frames
    .flatMap((frame) => decode(sseEvent(frame.type, frame)))
    .flatMap((event) => encoder.encode(event))
  assert.match(told.at(-2)?.data ?? '', /"service_tier":"priority"/)
})
