// Parts of an exchange for tests, complete, to which each test adds what it is about: a target and its route, and a
// request on its way in and on its way out.
import assert from 'node:assert/strict'
import { TIMEOUTS } from '../../src/catalog/catalog.ts'
import type { Target } from '../../src/catalog/models.ts'
import { FREE } from '../../src/catalog/prices.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Format } from '../../src/core/endpoints.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { OutboundRequest } from '../../src/exchange/prepare.ts'
import type { Reply } from '../../src/exchange/reply.ts'
import type { InboundRequest } from '../../src/exchange/request.ts'
import { ClientRequest } from '../../src/exchange/request.ts'
import type { Provider } from '../../src/providers/upstream/provider.ts'
import type { Route } from '../../src/routing/route.ts'
import { CODECS } from '../../src/wire/codecs.ts'
import { readJsonBody } from '../../src/wire/json/body.ts'
import { SAMPLE_CALLER } from './caller.ts'

export const SAMPLE_TARGET: Target = {
  name: 'local/m',
  provider: 'local',
  model: 'm',
  weight: 1,
  price: FREE,
  context: 10_000,
  maxOutput: 500,
  imageTokens: 1,
  lacks: [],
  traits: {},
  writesCacheUnasked: false,
  timeouts: TIMEOUTS,
}

/** Speaks chat, and is never called. */
export const SAMPLE_PROVIDER: Provider = {
  name: 'local',
  formatsOf: () => ['chat'],
  send: () => assert.fail('nothing is sent here'),
}

export const SAMPLE_ROUTE: Route = {
  target: SAMPLE_TARGET,
  provider: SAMPLE_PROVIDER,
  isFallback: false,
  why: 'the only one',
}

export const SAMPLE_OUTBOUND: OutboundRequest = {
  route: SAMPLE_ROUTE,
  codec: CODECS.chat,
  outputTokensMax: undefined,
  inputTokens: undefined,
  searchesMax: 0,
  keepsLong: false,
  dropped: [],
  content: () => ({}),
  encode: async () => Buffer.from('{}'),
}

export const SAMPLE_INBOUND: InboundRequest = {
  requestId: 'req_1',
  caller: SAMPLE_CALLER,
  endpoint: 'chat',
  codec: CODECS.chat,
  id: '',
  query: new URLSearchParams(),
  providerHeaders: new Map(),
  dropped: [],
  session: undefined,
  endUser: undefined,
  tags: undefined,
  startedMs: 0,
  trace: { requestId: 'req_1' },
  traceHeaders: {},
  readDryRun: () => false,
  readBody: () => assert.fail('the body is not read here'),
  releaseBody: () => {},
}

/** A request with this body, already read. */
export function sampleRequest(format: Format, body: JsonObject): ClientRequest {
  const codec = CODECS[format]
  const sent = readJsonBody(Buffer.from(JSON.stringify(body)))
  return new ClientRequest(
    { ...SAMPLE_INBOUND, codec, endpoint: format },
    { body: sent, asked: sent.value, dropped: [] },
    { call: codec.readCall(sent.value), clock: systemClock },
  )
}

/** A reply that nothing is written to. */
export function sampleReply(more: Partial<Reply> = {}): Reply {
  return {
    closed: new AbortController().signal,
    gone: undefined,
    hasBegun: false,
    cut: () => {},
    setHeader: () => {},
    beginStream: () => {},
    write: () => assert.fail('nothing is written here'),
    end: () => assert.fail('nothing is ended here'),
    ...more,
  }
}
