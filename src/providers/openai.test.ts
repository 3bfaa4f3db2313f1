// A place is recognized by its preset or its host, wherever it is reached; about any other nothing is assumed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf, readsFiles } from './openai.ts'

test('a place is recognized by its preset, else by its host', () => {
  const cases: readonly [Parameters<typeof placeOf>[0], string | undefined][] = [
    [{}, 'openai'],
    [{ preset: 'groq' }, 'groq'],
    [{ preset: 'ollama' }, undefined],
    [{ baseUrl: 'https://api.openai.com/v1' }, 'openai'],
    [{ baseUrl: 'https://eu.api.openai.com/v1/' }, 'openai'],
    [{ baseUrl: 'https://api.mistral.ai/v1' }, 'mistral'],
    [{ baseUrl: 'https://proxy.example.com/v1', preset: 'openai' }, 'openai'],
    [{ baseUrl: 'https://proxy.example.com/v1' }, undefined],
    [{ baseUrl: 'https://api.openai.com.example.com/v1' }, undefined],
    [{ baseUrl: 'https://notapi.openai.com/v1' }, undefined],
    [{ baseUrl: 'http://127.0.0.1:8000/v1' }, undefined],
  ]
  for (const [at, prices] of cases) {
    const place = placeOf(at)
    assert.equal(place.prices, prices, JSON.stringify(at))
    assert.equal(place.isOpenAi === true, prices === 'openai')
    if (at.baseUrl !== undefined) assert.equal(place.url, at.baseUrl)
  }
})

test("models that read files are known by OpenRouter's names for them", () => {
  for (const [model, isKnown] of [
    ['anthropic/claude-sonnet-4.6', true],
    ['google/gemini-2.5-pro', true],
    ['openai/gpt-5-mini', true],
    ['openai/gpt-oss-120b', false],
    ['meta-llama/llama-3.3-70b-instruct', false],
  ] as const) {
    assert.equal(readsFiles(model), isKnown, model)
  }
})
