// Mock providers written by others: `@copilotkit/aimock` answers like OpenAI, Azure, Anthropic, Gemini, Vertex and
// Bedrock, and can be made to misbehave. Its reading of their protocols shares none of our mistakes.
import { fileURLToPath } from 'node:url'

import { ensureDependencies } from '../../scripts/checkout.mjs'

/** The part of its interface that the tests use. */
export type Mock = {
  onMessage(pattern: RegExp, response: MockResponse): unknown
  onEmbedding(pattern: RegExp, response: { readonly embedding: readonly number[] }): unknown
  setChaos(rates: Chaos): unknown
  clearChaos(): unknown
  getRequests(): readonly { readonly path: string }[]
  start(): Promise<string>
  stop(): Promise<void>
}

export type MockResponse = {
  readonly content?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[]
}

export type Chaos = {
  readonly dropRate?: number
  readonly malformedRate?: number
  readonly disconnectRate?: number
  readonly rateLimitRate?: number
}

const folder = fileURLToPath(new URL('../tools/aimock', import.meta.url))

/** Throws where it cannot be installed. */
export async function loadMock(): Promise<new (options: { readonly port: number }) => Mock> {
  await ensureDependencies(folder)
  const module = (await import(`${folder}/node_modules/@copilotkit/aimock/dist/index.js`)) as {
    readonly LLMock: new (options: { readonly port: number }) => Mock
  }
  return module.LLMock
}
