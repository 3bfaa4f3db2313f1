// What a configuration's models cost, and may cost: by the lists, and by where its providers are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { perMillion } from '../catalog/models.ts'
import type { Model } from '../catalog/models.ts'
import { providerSettings } from '../providers/adapters.ts'
import { catalogOf } from './catalog-of.ts'

const NOW = Date.parse('2026-10-01T00:00:00Z')
const ACCOUNT =
  '{"client_email":"a@b","private_key":"k","token_uri":"https://oauth2.googleapis.com/token"}'

function modelAt(provider: object, model: string): Model | undefined {
  const settings = { ...providerSettings.parse(provider), name: 'there' }
  const target = { provider: 'there', model, weight: 1, timeouts: {} }
  const entry = { id: 'm', targets: [target], fallbacks: [], abilities: {} }
  const known = { providers: [settings], leftOut: new Map(), keyless: [] }
  const config = { ...known, models: [entry], sandbox: false }
  return catalogOf(config, { sandbox: [], now: NOW }).get('m')
}

function inputPrice(provider: object, model: string): string | undefined {
  const price = modelAt(provider, model)?.price
  return price ? perMillion(price.rates.input) : undefined
}

test('newer models cost a tenth more in a region of Vertex AI', () => {
  const at = (location: string, model: string) =>
    inputPrice({ kind: 'vertex', project: 'p', location, credentials: ACCOUNT }, model)
  const cases = [
    ['global', 'claude-sonnet-4-5@20250929', '3'],
    ['europe-west1', 'claude-sonnet-4-5@20250929', '3.3'],
    ['us-east5', 'claude-opus-4-6', '5.5'],
    ['us-east5', 'claude-opus-4-1@20250805', '15'],
    ['us-central1', 'gemini-2.5-pro', '1.25'],
    ['us-central1', 'gemini-3.5-flash', '1.65'],
    ['global', 'gemini-3.5-flash', '1.5'],
  ] as const
  for (const [location, model, price] of cases)
    assert.equal(at(location, model), price, `${model} in ${location}`)
})

test('newer models cost a tenth more in a region of OpenAI', () => {
  const at = (base_url: string, model: string) =>
    inputPrice({ kind: 'openai', preset: 'openai', base_url }, model)
  const cases = [
    ['https://api.openai.com/v1', 'gpt-5.4', '2.5'],
    ['https://eu.api.openai.com/v1', 'gpt-5.4', '2.75'],
    ['https://eu.api.openai.com/v1', 'gpt-5.4-mini-2026-03-17', '0.825'],
    ['https://eu.api.openai.com/v1', 'gpt-5', '1.25'],
    ['https://eu.api.openai.com/v1', 'gpt-4.1', '2'],
    ['https://proxy.example/v1', 'gpt-5.4', '2.5'],
  ] as const
  for (const [address, model, price] of cases)
    assert.equal(at(address, model), price, `${model} at ${address}`)
})

test('a model that writes its cache unasked is known as such at every provider', () => {
  const bedrock = { kind: 'bedrock', region: 'us-east-1', api_key: 'k' }
  const openrouter = { kind: 'openai', preset: 'openrouter', api_key: 'k' }
  const cases = [
    [{ kind: 'openai', api_key: 'k' }, 'gpt-5.6-sol', true],
    [openrouter, 'openai/gpt-5.6-sol', true],
    [bedrock, 'us.openai.gpt-5.6-sol', true],
    [bedrock, 'us.anthropic.claude-opus-4-6-v1', false],
    [{ kind: 'anthropic', api_key: 'k' }, 'claude-opus-4-6', false],
  ] as const
  for (const [provider, model, isUnasked] of cases)
    assert.equal(modelAt(provider, model)?.targets[0]?.writesCacheUnasked, isUnasked, model)
})

test('where clients of LiteLLM are served, a name may begin with its provider', () => {
  const settings = { ...providerSettings.parse({ kind: 'openai', api_key: 'k' }), name: 'ours' }
  const entry = (id: string) => ({
    ...{ id, fallbacks: [], abilities: {} },
    targets: [{ provider: 'ours', model: 'gpt-5', weight: 1, timeouts: {} }],
  })
  const models = ['gpt-5', 'best', 'openai/best'].map(entry)
  const known = { providers: [settings], leftOut: new Map(), keyless: [], sandbox: false }
  const aliasesWith = (litellm: boolean) => [
    ...catalogOf({ ...known, models, compat: { litellm } }, { sandbox: [], now: NOW }).aliases,
  ]
  assert.deepEqual(aliasesWith(false), [])
  // A model that has such a name itself is meant by it.
  assert.deepEqual(aliasesWith(true), [
    ['openai/gpt-5', 'gpt-5'],
    ['openai/openai/best', 'openai/best'],
  ])
})
