// Endpoints and models: what is not allowed and what does not exist get one answer, which names the closest match.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../../test/samples/caller.ts'
import type { Catalog, Model } from '../catalog/models.ts'
import { GatewayError } from '../core/errors.ts'
import type { Call } from '../core/request.ts'
import { type Caller, noModelCallable, permitEndpoint, permitModel } from './authenticate.ts'

const abilities = {
  tools: true,
  images: false,
  files: 'unknown',
  structured_output: true,
  reasoning: true,
} as const
const model = (id: string, more: Partial<Model> = {}) =>
  ({ id, kind: 'chat', available: true, abilities, ...more }) as Model
const models = new Map(
  [
    model('gpt-5-mini'),
    model('embedder', { kind: 'embedding' }),
    model('gone', { available: false }),
    model('secret-model'),
  ].map((one) => [one.id, one]),
)
const catalog = {
  get: (id) => models.get(id),
  list: () => [],
  aliases: new Map(),
  changesAt: null,
} as Catalog
const caller: Caller = {
  ...SAMPLE_CALLER,
  models: new Set(['gpt-5-mini', 'embedder', 'gone', 'removed']),
  permissions: new Set(['chat']),
}

const ask = (name: string, needs: Call['needs'] = [], who = caller) =>
  permitModel(catalog, who, { call: { model: name, needs }, kind: 'chat' })
const embed = (name: string) =>
  permitModel(catalog, caller, { call: { model: name, needs: [] }, kind: 'embedding' })

const refusal = (run: () => unknown): GatewayError => {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

test('each endpoint needs its permission', () => {
  permitEndpoint(caller, 'chat')
  assert.equal(refusal(() => permitEndpoint(caller, 'messages')).code, 'endpoint_not_allowed')
})

test('an allowed model is found', () => {
  assert.equal(ask('gpt-5-mini').id, 'gpt-5-mini')
})

test('unknown, forbidden and removed models get the same refusal, with the closest allowed name', () => {
  for (const name of ['gpt-5-mni', 'secret-model', 'removed', 'nothing like it']) {
    assert.equal(refusal(() => ask(name)).code, 'model_not_allowed', name)
  }
  assert.match(refusal(() => ask('gpt-5-mni')).message, /"gpt-5-mini"/)
  assert.match(refusal(() => ask('GPT-5-Mini')).message, /"gpt-5-mini"/)
  assert.match(refusal(() => ask('secret-mode')).message, /"secret-mode"/)
  assert.doesNotMatch(refusal(() => ask('secret-mode')).message, /secret-model/)
  assert.match(refusal(() => ask('removed')).message, /does not have that model right now/)
  const { message } = refusal(() => ask('x'.repeat(1_000_000)))
  assert.doesNotMatch(message, /closest/)
  assert.ok(message.length < 1_000, 'a name that is no name does not come back whole')
})

test('a model of the wrong kind, without an ability or out of service is refused', () => {
  assert.equal(embed('embedder').id, 'embedder')
  for (const [run, words] of [
    [() => ask('embedder'), /embedder is an embedding model/],
    [() => embed('gpt-5-mini'), /gpt-5-mini is a chat model/],
  ] as const) {
    const { code, message } = refusal(run)
    assert.equal(code, 'wrong_model_kind')
    assert.match(message, words)
  }
  assert.equal(refusal(() => ask('gpt-5-mini', ['images'])).code, 'ability_missing')
  assert.equal(ask('gpt-5-mini', ['files', 'tools']).id, 'gpt-5-mini')
  const { code, details } = refusal(() => ask('gone'))
  assert.deepEqual([code, details.shouldRetry], ['provider_failed', false])
})

test('the sandbox plays unserved models for a test key, within its own limits', () => {
  const tester: Caller = { ...caller, mode: 'test' }
  assert.equal(ask('gpt-5-mini', [], tester), models.get('gpt-5-mini'), 'this one is served')
  for (const name of ['gone', 'removed']) {
    const { id, context, maxOutput, targets } = ask(name, ['tools'], tester)
    assert.deepEqual([id, context, maxOutput, targets.length], [name, 131_072, 4_096, 1])
  }
  assert.equal(refusal(() => ask('gone', ['images'], tester)).code, 'ability_missing')
  assert.equal(ask('removed', ['images'], tester).id, 'removed')
})

test('a key is blocked while none of its models is callable', () => {
  const stops = (names: readonly string[], mode: Caller['mode'] = 'live') =>
    noModelCallable(catalog, { ...caller, mode, models: new Set(names) })?.code
  assert.equal(stops([]), 'model_not_allowed')
  assert.equal(stops([], 'test'), 'model_not_allowed')
  assert.equal(stops(['removed']), 'model_not_allowed')
  assert.equal(stops(['removed', 'gone']), 'provider_failed')
  assert.equal(stops(['removed', 'gone', 'embedder']), undefined)
  assert.equal(stops(['removed'], 'test'), undefined)
})
