// A provider that keeps its own books, and clients that call it through a gateway: ledger tests under real faults
// compare Tollgate's books with these. Each answer takes a moment and costs the same.
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

import { formatUsd } from '../../src/core/money.ts'
import type { TestGateway } from './gateway.ts'
import { until } from './until.ts'

const INPUT_TOKENS = 50
const OUTPUT_TOKENS = 200
/** In nano-USD, at 1 and 2 USD per million tokens. */
export const STORY_COST = BigInt(INPUT_TOKENS * 1_000 + OUTPUT_TOKENS * 2_000)
/** In nano-USD: no call holds more than the whole context and the whole output. */
export const STORY_HELD_MAX = BigInt(8_192 * 1_000 + 1_000 * 2_000)

export type StoryProvider = AsyncDisposable & {
  /** For a tollgate.yaml: the provider, and its model `story`. */
  readonly config: string
  /** How many calls it received. */
  dispatched(): number
}

export type StoryAnswer = {
  readonly status: number
  readonly requestId: string
  /** Status 200, and complete. */
  readonly isWhole: boolean
  readonly code: string | undefined
}

/** Undefined when the gateway was not running, or died meanwhile. */
export async function askStory(
  url: string,
  secret: string,
  stream: boolean,
): Promise<StoryAnswer | undefined> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({
        model: 'story',
        stream,
        max_tokens: 1000,
        messages: [{ role: 'user', content: 'Tell me a story.' }],
      }),
    })
    const body = await response.text()
    return {
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? '',
      isWhole: response.status === 200 && (!stream || body.endsWith('data: [DONE]\n\n')),
      code: /"code":"(\w+)"/.exec(body)?.[1],
    }
  } catch {
    await pause(20)
    return undefined
  }
}

export async function untilServed(url: string, secret: string): Promise<void> {
  await until(async () => (await askStory(url, secret, true))?.isWhole === true)
}

/** The key `story`, once nothing is held on it any more. */
export function quietKey(gateway: TestGateway): Promise<Record<string, unknown>> {
  return until(async () => {
    const key = await gateway.tollgate('keys', 'show', 'story')
    return key['held'] === '0' ? key : undefined
  })
}

/** Sends this many requests, from this many clients at a time. */
export async function askTogether(
  { url, secret }: { readonly url: string; readonly secret: string },
  { requests, clients }: { readonly requests: number; readonly clients: number },
): Promise<void> {
  const each = requests / clients
  const client = async (): Promise<void> => {
    for (let count = 0; count < each; count++) await askStory(url, secret, true)
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Every call that the provider received is charged once to the key `story`, once spooled charges are in the books. */
export async function addsUp(gateway: TestGateway, provider: StoryProvider): Promise<void> {
  const { spent } = await quietKey(gateway)
  assert.equal(spent, formatUsd(STORY_COST * BigInt(provider.dispatched())))
  assert.partialDeepStrictEqual(await gateway.tollgate('ledger', 'verify', '--quiescent'), {
    ok: true,
    violations: [],
  })
}

export async function startStoryProvider(): Promise<StoryProvider> {
  let dispatched = 0
  const server = createServer((message, response) => {
    dispatched++
    // A gateway that was killed hangs up in the middle.
    answer(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    config: `
providers:
  local: { kind: openai, base_url: "http://127.0.0.1:${port}/v1" }
models:
  story: { targets: [local/story], price: { input: 1, output: 2 }, context: 8192, max_output: 1000 }
`,
    dispatched: () => dispatched,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'story' }
const USAGE = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
}

async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(message)
  await pause(10 + Math.random() * 40)
  if (body.includes('"stream":true')) return answerStream(response)
  response.setHeader('content-type', 'application/json')
  const choice = { index: 0, finish_reason: 'stop', logprobs: null }
  const choices = [{ ...choice, message: { role: 'assistant', content: 'Once.', refusal: null } }]
  response.end(JSON.stringify({ ...HEAD, object: 'chat.completion', choices, usage: USAGE }))
}

async function answerStream(response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'text/event-stream')
  const chunk = { ...HEAD, object: 'chat.completion.chunk' }
  const send = (value: unknown): boolean => response.write(`data: ${JSON.stringify(value)}\n\n`)
  for (const content of ['Once ', 'upon ', 'a ', 'time.']) {
    const delta = { role: 'assistant', content }
    send({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] })
    await pause(5)
  }
  send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  send({ ...chunk, choices: [], usage: USAGE })
  response.end('data: [DONE]\n\n')
}
