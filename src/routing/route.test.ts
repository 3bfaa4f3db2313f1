// Weights, stickiness and order, over many conversations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model, Target } from '../catalog/models.ts'
import { FREE } from '../catalog/prices.ts'
import { SENTENCES } from '../core/sentences.ts'
import { RetryBudget } from './breaker.ts'
import { route } from './route.ts'

const conversations = Array.from({ length: 4_000 }, (_, index) => `conversation ${index}`)

test('a conversation keeps its target and the order of the others', () => {
  const model = modelOf([1, 1, 1])
  const [first] = conversations.map((conversation) => namesOf(model, conversation))
  for (let turn = 0; turn < 100; turn++) {
    assert.deepEqual(namesOf(model, conversations[0] ?? ''), first)
  }
})

test('conversations are split by weight', () => {
  const counts = new Map<string, number>()
  for (const conversation of conversations) {
    const [name = ''] = namesOf(modelOf([1, 3, 4]), conversation)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  // Four standard deviations of a fair draw, so that no choice of names fails by chance.
  for (const [name, share] of [
    ['p/0', 1 / 8],
    ['p/1', 3 / 8],
    ['p/2', 1 / 2],
  ] as const) {
    const expected = conversations.length * share
    const spread = 4 * Math.sqrt(expected * (1 - share))
    assert.ok(Math.abs((counts.get(name) ?? 0) - expected) < spread, `${name}: ${counts.get(name)}`)
  }
})

test('removing a target moves its own conversations and no others', () => {
  const all = modelOf([1, 1, 1])
  const fewer = { ...all, targets: all.targets.slice(0, 2) }
  for (const conversation of conversations.slice(0, 200)) {
    const [first, ...rest] = namesOf(all, conversation)
    const [now] = namesOf(fewer, conversation)
    assert.equal(now, first === 'p/2' ? rest[0] : first)
  }
})

test('fallbacks come last, in their own order', () => {
  const model = { ...modelOf([1, 1]), fallbacks: [targetOf('f/b', 9), targetOf('f/a', 1)] }
  for (const conversation of conversations.slice(0, 50)) {
    assert.deepEqual(namesOf(model, conversation).slice(2), ['f/b', 'f/a'])
  }
  const whys = (weights: readonly number[]): string[] =>
    route({ ...model, targets: modelOf(weights).targets }, { affinity: '' }).map(({ why }) => why)
  assert.deepEqual(whys([1]), ['the only target', 'a fallback', 'a fallback'])
  assert.deepEqual(whys([1, 1]).slice(0, 2), Array(2).fill(SENTENCES.target_by_weight))
})

test('a fifth of all requests may be retried, beyond the saved retries', () => {
  const budget = new RetryBudget()
  let retries = 0
  for (let request = 0; request < 10_000; request++) {
    budget.earn()
    if (budget.take()) retries += 1
  }
  assert.ok(retries >= 2_000 && retries <= 2_100, String(retries))
})

test('the saved retries suffice for a target that dies with a hundred requests', () => {
  const budget = new RetryBudget()
  for (let retry = 0; retry < 100; retry++) assert.ok(budget.take())
  assert.equal(budget.take(), false)
})

function namesOf(model: Pick<Model, 'targets' | 'fallbacks'>, affinity: string): string[] {
  return route(model, { affinity }).map(({ target }) => `${target.provider}/${target.model}`)
}

function modelOf(weights: readonly number[]): Pick<Model, 'targets' | 'fallbacks'> {
  return { targets: weights.map((weight, index) => targetOf(`p/${index}`, weight)), fallbacks: [] }
}

function targetOf(name: string, weight: number): Target {
  const [provider = '', model = ''] = name.split('/')
  return {
    provider,
    model,
    weight,
    price: FREE,
    context: 1,
    maxOutput: 1,
    imageTokens: 1,
    lacks: [],
    traits: {},
    writesCacheUnasked: false,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
  }
}
