// The bounds that a hold rests on: each case states what it counts, and none may be below what a provider can bill.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_INPUT as nothing } from '../core/request.ts'
import type { InputMeasure, OutputLimits } from '../core/request.ts'
import { UNKNOWN_ABILITIES } from './models.ts'
import type { Model, Target } from './models.ts'
import type { Rates } from './prices.ts'
import { inputBound, RaisedBounds, recountedBound, worstCase } from './worst-case.ts'

const THINKS: Model['abilities'] = { ...UNKNOWN_ABILITIES, reasoning: true }
const oneChoice: OutputLimits = { choices: 1, reasons: false }

describe('inputBound', () => {
  const window = { context: 100_000, imageTokens: 5_000 }
  const cases: readonly [string, Partial<InputMeasure>, number][] = [
    ['an empty request still has its framing', {}, 1_024],
    ['a byte of text is at most one token', { textBytes: 500 }, 1_524],
    ['a byte of JSON at most three', { jsonBytes: 500 }, 2_524],
    ['messages', { items: 3 }, 1_072],
    ['images', { images: 2 }, 11_024],
    ['tools whose schema only the model knows', { vendorTools: 3, jsonBytes: 50 }, 4_246],
    ['token numbers', { tokens: 7 }, 1_031],
    ['input that bytes do not bound fills the window', { unbounded: true }, 100_000],
    ['never above the window', { textBytes: 1_000_000 }, 100_000],
  ]
  for (const [name, input, tokens] of cases) {
    test(name, () => assert.equal(inputBound({ ...nothing, ...input }, 'chat', window), tokens))
  }

  test('each input of an embedding request may fill the window', () => {
    const input = { ...nothing, textBytes: 1_000_000, items: 3 }
    assert.equal(inputBound(input, 'embedding', window), 300_000)
  })
})

describe('recountedBound', () => {
  const at = { kind: 'chat', window: { context: 100_000, imageTokens: 5_000 } } as const
  const input = { ...nothing, textBytes: 50_000, jsonBytes: 9_000, items: 1 }

  test('half as much again as the tokenizer counted, plus framing', () => {
    assert.equal(recountedBound(input, 2_000, at), 3_000 + 16 + 1_024)
  })

  test('opaque reasoning is still bounded by its bytes', () => {
    assert.equal(recountedBound({ ...input, opaqueBytes: 40_000 }, 2_000, at), 43_000 + 16 + 1_024)
  })
})

describe('worstCase', () => {
  test('counts input and framing at the input price, and output separately', () => {
    const worst = worstCaseOf({
      model: model([target({ input: 2n, output: 7n })]),
      input: { ...nothing, textBytes: 76 },
      output: { ...oneChoice, tokensMax: 50, choices: 3 },
    })
    assert.deepEqual(worst, {
      inputTokens: 1_100,
      fixedPicodollars: 2_200n,
      outputTokenPicodollars: 21n,
      outputTokens: 50,
      outputTokensFrom: 'client',
      outputTokensMinimum: 256,
    })
  })

  test('a target that can write less than the model is held for less', () => {
    const able = target({ output: 1n })
    const question = {
      model: model([able]),
      input: nothing,
      output: { ...oneChoice, tokensMax: 50 },
    }
    assert.equal(worstCase(able, { ...question, outputTokensMax: 20 }).outputTokens, 20)
    assert.equal(worstCase(able, { ...question, outputTokensMax: 90 }).outputTokens, 50)
  })

  for (const [cacheWrites, rate] of [
    ['none', 10n],
    ['short', 12n],
    ['long', 20n],
  ] as const) {
    test(`cache writes: ${cacheWrites}`, () => {
      const worst = worstCaseOf({
        model: model([target({ input: 10n, cacheWriteShort: 12n, cacheWriteLong: 20n })]),
        input: { ...nothing, cacheWrites },
        output: oneChoice,
      })
      assert.equal(worst.fixedPicodollars, 1_024n * rate)
    })
  }

  test('a provider that caches unasked bills for it unasked', () => {
    const rates = { input: 10n, cacheWriteShort: 13n, cacheWriteLong: 20n }
    const eager = { ...target(rates), writesCacheUnasked: true }
    const ask = (cacheWrites: InputMeasure['cacheWrites']) =>
      worstCaseOf({
        model: model([eager]),
        input: { ...nothing, cacheWrites },
        output: oneChoice,
      }).fixedPicodollars
    assert.deepEqual([ask('none'), ask('long')], [1_024n * 13n, 1_024n * 20n])
  })

  test('a tier counts as soon as the bound reaches it', () => {
    const tiered = target({ input: 1n, output: 1n }, [2_000, { input: 2n, output: 3n }])
    const ask = (textBytes: number) =>
      worstCaseOf({
        model: model([tiered]),
        input: { ...nothing, textBytes },
        output: oneChoice,
      })
    assert.equal(ask(976).fixedPicodollars, 2_000n)
    assert.equal(ask(977).fixedPicodollars, 4_002n)
    assert.equal(ask(977).outputTokenPicodollars, 3n)
  })

  test('an exact count replaces the bound, but never raises it', () => {
    const ask = (exact: number) =>
      worstCaseOf({
        model: model([target({ input: 1n })]),
        input: nothing,
        output: oneChoice,
        inputTokens: exact,
      }).inputTokens
    assert.equal(ask(3), 3)
    assert.equal(ask(99_999), 1_024)
  })

  const limits: readonly [string, OutputLimits, Partial<Model>, number, number][] = [
    ['the model decides where the client does not', oneChoice, {}, 4_096, 256],
    ['an entry may decide for less', oneChoice, { defaultOutput: 1_000 }, 1_000, 256],
    ['thinking needs room', { ...oneChoice, reasons: true }, {}, 4_096, 4_096],
    [
      'a model that thinks by default needs room unasked',
      oneChoice,
      { abilities: THINKS, maxOutput: 8_000 },
      8_000,
      4_096,
    ],
    [
      'a model without that much output needs no such room',
      oneChoice,
      { abilities: THINKS },
      4_096,
      256,
    ],
    [
      'an answer must fit behind the thinking budget',
      { ...oneChoice, reasons: true, reasoningBudget: 8_000 },
      {},
      4_096,
      8_001,
    ],
    ['embeddings write nothing', oneChoice, { kind: 'embedding' }, 0, 256],
  ]
  for (const [name, output, facts, tokens, minimum] of limits) {
    test(name, () => {
      const worst = worstCaseOf({
        model: { ...model([target({})]), ...facts },
        input: nothing,
        output,
      })
      assert.equal(worst.outputTokens, tokens)
      assert.equal(worst.outputTokensMinimum, minimum)
    })
  }
})

/** At the only target of a model. */
function worstCaseOf(question: Parameters<typeof worstCase>[1]) {
  const [only] = question.model.targets
  assert.ok(only !== undefined)
  return worstCase(only, question)
}

function target(rates: Partial<Rates>, tier?: readonly [number, Partial<Rates>]): Target {
  const full = (part: Partial<Rates>): Rates => ({
    input: 0n,
    cached: 0n,
    cacheWriteShort: 0n,
    cacheWriteLong: 0n,
    output: 0n,
    ...part,
  })
  return {
    name: 'test/test',
    provider: 'test',
    model: 'test',
    weight: 1,
    price: {
      version: 'test',
      rates: full(rates),
      tiers: tier === undefined ? [] : [{ aboveInputTokens: tier[0], rates: full(tier[1]) }],
      fees: { request: 0n, webSearch: null },
    },
    context: 100_000,
    maxOutput: 4_096,
    imageTokens: 1_000,
    lacks: [],
    traits: {},
    writesCacheUnasked: false,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
  }
}

function model(targets: readonly Target[]): Model {
  return {
    id: 'test',
    kind: 'chat',
    targets,
    fallbacks: [],
    price: null,
    context: 100_000,
    maxOutput: 4_096,
    defaultOutput: null,
    abilities: UNKNOWN_ABILITIES,
    available: true,
    leftOut: [],
    reason: null,
  }
}

// A bound that fell short is raised by what it lacked, and only once for requests that run at the same time.

const tooLow = { name: 'one/m' }

test('a bound is raised by the factor by which it fell short', () => {
  const bounds = new RaisedBounds()
  assert.equal(bounds.factorOf(tooLow, 'bytes'), 1)
  bounds.raise(tooLow, { basis: 'bytes', from: 1, times: 2 })
  bounds.raise(tooLow, { basis: 'bytes', from: bounds.factorOf(tooLow, 'bytes'), times: 1.5 })
  assert.equal(bounds.factorOf(tooLow, 'bytes'), 3)
  assert.equal(bounds.factorOf({ name: 'two/m' }, 'bytes'), 1)
})

test('concurrent requests raise a bound once', () => {
  const bounds = new RaisedBounds()
  for (const times of [2, 3, 2, 0.5]) bounds.raise(tooLow, { basis: 'bytes', from: 1, times })
  assert.equal(bounds.factorOf(tooLow, 'bytes'), 3)
})

test('a recount that fell short raises recounts alone', () => {
  const bounds = new RaisedBounds()
  bounds.raise(tooLow, { basis: 'count', from: 1, times: 9 })
  assert.deepEqual([bounds.factorOf(tooLow, 'count'), bounds.factorOf(tooLow, 'bytes')], [9, 1])
})
