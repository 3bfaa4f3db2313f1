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

test('nor has one that draws where nobody tells what a picture costs', () => {
  assert.equal(priceOf('openrouter', 'google/gemini-2.5-flash-image'), undefined)
  assert.equal(priceOf('openai', 'gpt-5-image'), undefined)
})

test('nor has one that searches unasked where nobody tells what that costs', () => {
  assert.equal(priceOf('openai', 'gpt-4o-search-preview'), undefined)
  assert.equal(priceOf('openai', 'gpt-4o-mini-search-preview-2025-03-11'), undefined)
  assert.equal(priceOf('openrouter', 'perplexity/sonar'), undefined)
  assert.equal(priceOf('perplexity', 'sonar-deep-research'), undefined)
  assert.equal(perMillion(priceOf('perplexity', 'sonar-pro')?.fees.request ?? 0n), '14000')
})

test('what is kept for long costs no less than what is kept for short', () => {
  const { cacheWriteShort, cacheWriteLong } =
    priceOf('openrouter', 'gemini-flash-1.5')?.rates ?? assert.fail()
  assert.equal(cacheWriteLong, cacheWriteShort)
})

test('a name that is more than the name of a known model has no price of that model', () => {
  for (const [list, model] of [
    ['anthropic', 'claude-sonnet-5-5'],
    ['anthropic', 'claude-opus-4-6-fast'],
    ['anthropic', 'claude-opus-4-10'],
    ['aws', 'us.anthropic.claude-sonnet-5-5'],
    ['azure', 'o4-mini-deep-research'],
    ['deepseek', 'deepseek-r1-distill-llama-70b'],
    ['google', 'gemini-3.8-flash-lite'],
    ['google', 'gemini-3.8-flash-tts'],
    ['google', 'gemini-2.5-pro-deep-think'],
    ['openai', 'gpt-5-nano-pro'],
  ] as const)
    assert.equal(priceOf(list, model), undefined, model)
})

test('a date, a version, a region or a stage in a name changes nothing', () => {
  for (const [list, model, output] of [
    ['anthropic', 'claude-opus-4-1-20250805', '75'],
    ['anthropic', 'claude-3-5-haiku-latest', '4'],
    ['google', 'claude-sonnet-4@20250514', '15'],
    ['google', 'claude-opus-4-6@default', '25'],
    ['google', 'gemini-2.5-pro-preview-05-06', '10'],
    ['google', 'gemini-2.0-flash-001', '0.4'],
    ['google', 'gemini-3.1-pro-preview-customtools', '12'],
    ['aws', 'us.anthropic.claude-opus-4-5-20251101-v1:0', '27.5'],
    ['aws', 'amazon.nova-pro-v1:0:300k', '3.2'],
    [
      'aws',
      'arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-sonnet-4-6',
      '15',
    ],
    ['openai', 'gpt-5-nano-2025-08-07', '0.4'],
    ['openai', 'gpt-5-20250807', '10'],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::x', '15'],
    ['mistral', 'magistral-small-2509', '1.5'],
  ] as const)
    assert.equal(perMillion(priceOf(list, model)?.rates.output ?? 0n), output, model)
})
