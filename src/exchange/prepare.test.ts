// What a target is sent, and in which of its provider's formats.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  SAMPLE_OUTBOUND,
  SAMPLE_PROVIDER,
  SAMPLE_ROUTE,
  SAMPLE_TARGET,
  sampleRequest,
} from '../../test/samples/exchange.ts'
import type { UpstreamFormat } from '../core/endpoints.ts'
import { GatewayError } from '../core/errors.ts'
import { numberOf, type Json, type JsonObject } from '../core/json.ts'
import type { Route } from '../routing/route.ts'
import { countAt, prepare, type OutboundRequest } from './prepare.ts'

const OPENAI: readonly UpstreamFormat[] = ['responses', 'chat', 'embeddings']
const QUESTION: Readonly<Record<'chat' | 'messages', JsonObject>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
}

describe('the choice among a provider’s formats', () => {
  for (const [what, more, formats, taken] of [
    ['the best one is used', {}, OPENAI, 'responses'],
    [
      'another one is used if the best cannot express the request',
      { stop_sequences: ['END'] },
      OPENAI,
      'chat',
    ],
    [
      'another one is used if the best allows no answer that short',
      { max_tokens: 15 },
      OPENAI,
      'chat',
    ],
    [
      'the best one is used if the answer may be long enough',
      { max_tokens: 16 },
      OPENAI,
      'responses',
    ],
    [
      'the only one is used, however short the answer',
      { max_tokens: 1 },
      ['responses'],
      'responses',
    ],
  ] as const)
    test(what, async () => {
      const [prepared, ...others] = await preparedFor('messages', more, { formats })
      assert.equal(prepared?.codec.format, taken)
      assert.deepEqual(others, [], 'it is asked in one of them')
      const body = JSON.parse((await prepared.encode(more.max_tokens)).toString())
      assert.equal('input' in body, taken === 'responses')
    })

  test('the client’s own format is used, whatever comes first', async () => {
    const [prepared] = await preparedFor('chat', { stop: ['END'] }, { formats: OPENAI })
    assert.equal(prepared?.codec.format, 'chat')
  })

  test('a request that no format can express gets the refusal of the best', async () => {
    const stop_sequences = ['1', '2', '3', '4', '5']
    await assert.rejects(
      preparedFor('messages', { stop_sequences }, { formats: OPENAI }),
      (thrown) => thrown instanceof GatewayError && /no stop sequences/.test(thrown.message),
    )
  })
})

test('targets without a needed ability are left out, and a request that none can serve is refused', async () => {
  const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
  const request = sampleRequest('chat', { model: 'm', messages: [{ role: 'user', content }] })
  const lacking = (model: string, lacks: Route['target']['lacks']): Route => ({
    ...SAMPLE_ROUTE,
    isFallback: true,
    target: { ...SAMPLE_TARGET, name: `local/${model}`, model, lacks },
  })
  const blind = lacking('blind', ['images'])
  const prepared = await prepare(request, [blind, lacking('deaf', ['tools'])])
  const models = prepared.map(({ route }) => route.target.model)
  assert.deepEqual(models, ['deaf'])
  await assert.rejects(prepare(request, [blind]), { code: 'provider_failed' })
})

test('a long cache lifetime counts as unreported only from a chat client to a chat provider', async () => {
  const content = (ttl: string) => [{ type: 'text', text: 'Hi', cache_control: { ttl } }]
  const keepsLong = async (ttl: string, formats: readonly UpstreamFormat[]) => {
    const messages = [{ role: 'user', content: content(ttl) }]
    return (await preparedFor('chat', { messages }, { formats }))[0]?.keepsLong
  }
  assert.equal(await keepsLong('1h', ['chat']), true)
  assert.equal(await keepsLong('5m', ['chat']), false)
  assert.equal(await keepsLong('1h', ['messages']), false)
  const cached = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }
  const messages = [{ role: 'user', content: [cached] }]
  const [told] = await preparedFor('messages', { messages }, { formats: ['messages'] })
  assert.equal(told?.keepsLong, false)
})

test('fields that an embedding provider has no place for are named', async () => {
  const request = sampleRequest('embeddings', { model: 'm', input: 'Hi', user: 'ann' })
  for (const [formats, dropped] of [
    [['embeddings'], []],
    [['gemini_embeddings'], ['user']],
    [['vertex_embeddings'], ['user']],
  ] as const) {
    const [prepared] = await prepare(request, [routeIn(formats)])
    assert.deepEqual(prepared?.dropped, dropped)
  }
})

function preparedFor(
  format: 'chat' | 'messages',
  more: JsonObject,
  { formats }: { readonly formats: readonly UpstreamFormat[] },
): Promise<readonly OutboundRequest[]> {
  return prepare(sampleRequest(format, { ...QUESTION[format], ...more }), [routeIn(formats)])
}

/** To a provider that speaks these formats and is never called. */
function routeIn(formats: readonly UpstreamFormat[]): Route {
  const provider = { ...SAMPLE_PROVIDER, formatsOf: () => formats }
  return {
    ...SAMPLE_ROUTE,
    provider,
    target: { ...SAMPLE_TARGET, name: 'local/gpt-4.1', model: 'gpt-4.1' },
  }
}

// Whose count of the input is believed.

function countOf(told: Json): Promise<number | undefined> {
  const provider = { ...SAMPLE_PROVIDER, countTokens: () => Promise.resolve(numberOf(told)) }
  const outbound = { ...SAMPLE_OUTBOUND, route: { ...SAMPLE_ROUTE, provider } }
  return countAt(outbound, new Map(), new AbortController().signal)
}

test('a provider’s count is believed', async () => {
  assert.equal(await countOf(12), 12)
})

for (const told of [-1_000_000, 0, 1.5, 1e300, '12', null])
  test(`${JSON.stringify(told)} is no count`, async () => {
    assert.equal(await countOf(told), undefined)
  })
