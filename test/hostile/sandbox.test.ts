// Requests that are made to keep the sandbox busy, by a free test key: each is answered or refused, and the gateway
// serves others meanwhile.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { JsonObject } from '../../src/core/json.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'

/** Far longer than a refusal takes on a busy machine, and shorter than what such requests took before they were. */
const STALL_MS_MAX = 10_000
/** Of an answer that takes long enough for hundreds. */
const HEALTHY_MIN = 4

const opened = new AsyncDisposableStack()
let gateway: TestGateway
let secret: string

before(async () => {
  gateway = opened.use(await startGateway())
  secret = await gateway.key('tests', 'sandbox-chat,sandbox-embedding', '--mode', 'test')
})
after(() => opened.disposeAsync())

const conversation = (text: string, more: JsonObject = {}): JsonObject => ({
  model: 'sandbox-chat',
  messages: [{ role: 'user', content: text }],
  ...more,
})
const filling = (schema: JsonObject): JsonObject =>
  conversation('Fill it', {
    response_format: { type: 'json_schema', json_schema: { name: 'hostile', schema } },
  })
const calling = (schema: JsonObject): JsonObject =>
  conversation('Use the tool hostile', {
    tools: [{ type: 'function', function: { name: 'hostile', parameters: schema } }],
  })

/** Definitions of a thousand characters, each of which refers to the next one twice. */
const JOINED: JsonObject = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...Array.from({ length: 200 }, (_, number) => {
      const next = { $ref: `#/$defs/d${number + 1}` }
      return [`d${number}`, { description: 'x'.repeat(950), allOf: [next, next] }]
    }),
    ['d200', { type: 'string' }],
  ]),
}

/** Repetitions in repetitions, each of which has to be tried in every length. */
const PATTERN: JsonObject = {
  type: 'array',
  minItems: 200,
  uniqueItems: true,
  items: { type: 'string', pattern: '(a|b|[a-z]{20}){1000}'.repeat(33) },
}

const LONG = '[[sandbox tokens=4096]]'
const STREAM = { stream: true }
const PROBABLE = { logprobs: true, top_logprobs: 20 }

describe('the gateway serves others during', () => {
  for (const [what, path, body, status] of [
    ['a schema joined by references', 'chat/completions', filling(JOINED), 400],
    ['a tool with that schema', 'chat/completions', calling(JOINED), 400],
    ['a pattern', 'chat/completions', filling(PATTERN), 400],
    [
      'many choices with probabilities',
      'chat/completions',
      conversation('Hello', { n: 128, ...PROBABLE, top_logprobs: 10 }),
      200,
    ],
    [
      'many long choices with probabilities',
      'chat/completions',
      conversation(LONG, { n: 128, ...PROBABLE }),
      400,
    ],
    [
      'many long choices, streamed',
      'chat/completions',
      conversation(LONG, { n: 128, ...STREAM }),
      400,
    ],
    ['long choices, streamed', 'chat/completions', conversation(LONG, { n: 20, ...STREAM }), 200],
    [
      'many choices, each searched for many stop sequences',
      'chat/completions',
      conversation(LONG, { n: 128, stop: Array.from({ length: 20_000 }, (_, n) => `stop ${n}`) }),
      400,
    ],
    [
      'many long vectors',
      'embeddings',
      {
        model: 'sandbox-embedding',
        input: Array.from({ length: 2048 }, (_, n) => `text ${n}`),
        dimensions: 4096,
      },
      400,
    ],
  ] as const) {
    test(what, async () => {
      const asked = ask(path, body)
      const { healthy, stalledMs } = await watched(asked)
      const answer = await asked
      assert.equal(answer.status, status, answer.text.slice(0, 500))
      assert.ok(stalledMs < STALL_MS_MAX, `/healthz took ${stalledMs} ms`)
      if (status === 200) assert.ok(healthy >= HEALTHY_MIN, `${healthy} answers of /healthz`)
    })
  }
})

async function ask(path: string, body: JsonObject): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

type Watched = { readonly healthy: number; readonly stalledMs: number }

/** How often the gateway said that it is alive until the work was done, and the longest time that took. */
async function watched(work: Promise<unknown>): Promise<Watched> {
  let isDone = false
  const noteEnd = (): void => void (isDone = true)
  work.then(noteEnd, noteEnd)
  let healthy = 0
  let stalledMs = 0
  do {
    const startedMs = performance.now()
    const health = await fetch(`${gateway.url}/healthz`)
    await health.arrayBuffer()
    stalledMs = Math.max(stalledMs, performance.now() - startedMs)
    if (!isDone) healthy++
  } while (!isDone)
  return { healthy, stalledMs }
}
