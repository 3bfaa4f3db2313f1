// A server is recognized by its preset or its host, wherever it is reached; about any other nothing is assumed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverOf, readsFiles } from './openai.ts'

test('a server is recognized by its preset, else by its host', () => {
  const cases: readonly [Parameters<typeof serverOf>[0], string | undefined][] = [
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
    const server = serverOf(at)
    assert.equal(server.prices, prices, JSON.stringify(at))
    assert.equal(server.isOpenAi === true, prices === 'openai')
    if (at.baseUrl !== undefined) assert.equal(server.url, at.baseUrl)
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
