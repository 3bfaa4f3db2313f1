// Finding models by what people type and paste.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelAnswer } from '../../../../src/admin/contract/gateway.ts'
import { groupedByProvider, matchingModels, noFilter, readPastedModels } from './model-choice.ts'

const model = (
  id: string,
  provider: string | null,
  kind: ModelAnswer['kind'] = 'chat',
): ModelAnswer => ({
  id,
  kind,
  provider,
  targets: [],
  price: null,
  context: null,
  max_output: null,
  abilities: {
    tools: true,
    images: false,
    files: false,
    structured_output: 'unknown',
    reasoning: false,
  },
  available: true,
  reason: null,
  health: 'answering',
  key_count: 0,
})

const models = [
  model('large', 'openai'),
  model('small', 'openai'),
  model('vectors', 'mistral', 'embedding'),
]

const ids = (found: readonly ModelAnswer[]): string[] => found.map(({ id }) => id)

test('every word must match the name or the provider', () => {
  assert.deepEqual(ids(matchingModels(models, { ...noFilter, text: ' Open  SMALL ' })), ['small'])
  assert.deepEqual(ids(matchingModels(models, noFilter)), ['large', 'small', 'vectors'])
})

test('kind and ability narrow the list, and an unknown ability does not match', () => {
  assert.deepEqual(ids(matchingModels(models, { ...noFilter, kind: 'embedding' })), ['vectors'])
  assert.deepEqual(ids(matchingModels(models, { ...noFilter, ability: 'structured_output' })), [])
})

test('groups are sorted by provider, and models without one come last', () => {
  const all = [model('old', null), ...models, model('older', null)]
  const groups = groupedByProvider(all).map(({ provider, models: own }) => [provider, ids(own)])
  assert.deepEqual(groups, [
    ['mistral', ['vectors']],
    ['openai', ['large', 'small']],
    [null, ['old', 'older']],
  ])
})

test('a pasted list may be a JSON array, lines or comma-separated', () => {
  const known = new Set(['large', 'small'])
  for (const pasted of ['["large","small"]', 'large\n small\r\n', 'large, small,large'])
    assert.deepEqual(readPastedModels(pasted, known), { found: ['large', 'small'], unknown: [] })
  assert.deepEqual(readPastedModels('large huge', known).unknown, ['huge'])
})
