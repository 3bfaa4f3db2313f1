// Weights, stickiness and order, over many conversations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_TARGET } from '../../test/samples/exchange.ts'
import { SENTENCES } from '../core/sentences.ts'
import { Breaker, RetryBudget } from './breaker.ts'
import { inOrder } from './route.ts'

const conversations = Array.from({ length: 4_000 }, (_, index) => `conversation ${index}`)

test('a conversation keeps its target and the order of the others', () => {
  const routes = routesOf([1, 1, 1])
  const [first] = conversations.map((conversation) => namesOf(routes, conversation))
  for (let turn = 0; turn < 100; turn++) {
    assert.deepEqual(namesOf(routes, conversations[0] ?? ''), first)
  }
})

test('conversations are split by weight', () => {
  const counts = new Map<string, number>()
  for (const conversation of conversations) {
    const [name = ''] = namesOf(routesOf([1, 3, 4]), conversation)
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
  const all = routesOf([1, 1, 1])
  for (const conversation of conversations.slice(0, 200)) {
    const [first, ...rest] = namesOf(all, conversation)
    const [now] = namesOf(all.slice(0, 2), conversation)
    assert.equal(now, first === 'p/2' ? rest[0] : first)
  }
})

test('fallbacks come last, in their own order', () => {
  const routes = [
    ...routesOf([1, 1]),
    routeTo('f/b', { weight: 9, isFallback: true }),
    routeTo('f/a', { isFallback: true }),
  ]
  for (const conversation of conversations.slice(0, 50)) {
    assert.deepEqual(namesOf(routes, conversation).slice(2), ['f/b', 'f/a'])
  }
})

test('a target in trouble comes after all others, which are told why they come before it', () => {
  const breaker = new Breaker({ now: () => 0, monotonicMs: () => 0 })
  breaker.begin()({ failed: 'provider_overloaded', retryAfterSeconds: 1 })
  const routes = [{ ...routeTo('p/0'), breaker }, routeTo('f/a', { isFallback: true })]
  assert.deepEqual(namesOf(routes, ''), ['f/a', 'p/0'])
  assert.deepEqual(
    inOrder(routes, { affinity: '' }).map(({ why }) => why),
    [`why; ${SENTENCES.target_while_others_fail}`, 'why'],
  )
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

type Routes = Parameters<typeof inOrder>[0]

function namesOf(routes: Routes, affinity: string): string[] {
  return inOrder(routes, { affinity }).map(({ target }) => `${target.provider}/${target.model}`)
}

function routesOf(weights: readonly number[]): Routes {
  return weights.map((weight, index) => routeTo(`p/${index}`, { weight }))
}

function routeTo(name: string, { weight = 1, isFallback = false } = {}): Routes[number] {
  const [provider = '', model = ''] = name.split('/')
  const target = { ...SAMPLE_TARGET, name: `${provider}/${model}`, provider, model, weight }
  return { target, isFallback, why: 'why' }
}
