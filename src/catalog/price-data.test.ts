// What the bundled data says of models whose tokens are not all billed alike.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { perMillion } from './model-json.ts'
import { bundledPrices } from './price-data.ts'
import type { Price } from './prices.ts'

function priceOf(id: string, model: string): Price | undefined {
  return bundledPrices({ list: { id }, model, now: Date.parse('2026-10-01T00:00:00Z') })?.price
}

test('output that may be a picture costs what a picture costs', () => {
  for (const [model, output] of [
    ['gemini-2.5-flash-image', '30'],
    ['gemini-3-pro-image-preview', '120'],
    ['gemini-2.5-flash', '2.5'],
  ] as const)
    assert.equal(perMillion(priceOf('google', model)?.rates.output ?? 0n), output, model)
})

test('a model that is made for sound has no price where nobody tells what sound costs', () => {
  assert.equal(priceOf('openai', 'gpt-4o-audio-preview'), undefined)
  assert.equal(priceOf('openrouter', 'openai/gpt-4o-audio-preview'), undefined)
  assert.equal(perMillion(priceOf('openai', 'gpt-audio')?.fees.audioToken ?? 0n), '29.5')
})
