// The data plane on one screen: every method and path under /v1, and the function that answers it.
import type { Endpoint, Family } from '../core/endpoints.ts'
import type { Incoming, Parts } from '../exchange/exchange.ts'
import { exchange } from '../exchange/exchange.ts'
import { listModels, showModel } from '../exchange/models.ts'
import type { Reply } from '../exchange/reply.ts'
import type { Codec } from '../wire/codec.ts'
import { codecOf } from '../wire/codecs.ts'
import type { Route } from './router.ts'

export type Handler = {
  readonly endpoint: Endpoint
  readonly family: Family
  run(parts: Parts, arrival: Arrival, reply: Reply): Promise<void>
}

/** A request at the door: everything but the codec, which the route brings, and the id from its path. */
export type Arrival = Omit<Incoming, 'codec'> & { readonly id: string }

export const ROUTES: readonly Route<Handler>[] = [
  { method: 'GET', path: '/v1/models', handler: on('models', 'chat', listModels) },
  { method: 'GET', path: '/v1/models/{id}', handler: on('models', 'chat', showModel) },
  { method: 'POST', path: '/v1/chat/completions', handler: inference('chat', codecOf('chat')) },
  { method: 'POST', path: '/v1/responses', handler: inference('responses', codecOf('responses')) },
  {
    method: 'POST',
    path: '/v1/embeddings',
    handler: inference('embeddings', codecOf('embeddings')),
  },
  { method: 'POST', path: '/v1/messages', handler: inference('messages', codecOf('messages')) },
]

function inference(endpoint: Endpoint, codec: Codec): Handler {
  return on(endpoint, codec.family, (parts, arrival, reply) =>
    exchange(parts, { ...arrival, codec }, reply),
  )
}

function on(endpoint: Endpoint, family: Family, run: Handler['run']): Handler {
  return { endpoint, family, run }
}
