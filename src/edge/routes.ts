// The data plane on one screen: every method and path under /v1, and the function that answers it.
import type { Endpoint, Format } from '../core/endpoints.ts'
import type { Incoming } from '../exchange/client-request.ts'
import { countMessageTokens, countResponseTokens } from '../exchange/count-tokens.ts'
import type { Parts } from '../exchange/exchange.ts'
import { exchange } from '../exchange/exchange.ts'
import { listModels, showModel } from '../exchange/models.ts'
import { showOwnKey, showOwnRequest } from '../exchange/own-key.ts'
import type { Reply } from '../exchange/reply.ts'
import { deleteResponse, listInputItems, showResponse } from '../exchange/stored-responses.ts'
import { codecOf } from '../wire/codecs.ts'
import type { Codec } from '../wire/contract/codec.ts'
import type { Route } from './router.ts'

export type Handler = {
  readonly endpoint: Endpoint
  /** The format of the body, if there is one, and of the answer's envelope. */
  readonly codec: Codec
  run(parts: Parts, arrival: Arrival, reply: Reply): Promise<void>
}

/** A request as the edge hands it to its handler. */
export type Arrival = Incoming & {
  /** The value of {id} or {name} in the path. */
  readonly id: string
  readonly query: URLSearchParams
}

export const ROUTES: readonly Route<Handler>[] = [
  ask('GET', '/v1/key', { endpoint: 'models', run: showOwnKey }),
  ask('GET', '/v1/requests/{id}', { endpoint: 'models', run: showOwnRequest }),
  ask('GET', '/v1/models', { endpoint: 'models', run: listModels }),
  ask('GET', '/v1/models/{name}', { endpoint: 'models', run: showModel }),
  post('/v1/chat/completions', { endpoint: 'chat', format: 'chat', run: exchange }),
  post('/v1/responses', { endpoint: 'responses', format: 'responses', run: exchange }),
  post('/v1/responses/input_tokens', {
    endpoint: 'responses',
    format: 'responses',
    run: countResponseTokens,
  }),
  ask('GET', '/v1/responses/{id}', { endpoint: 'responses', run: showResponse }),
  ask('DELETE', '/v1/responses/{id}', { endpoint: 'responses', run: deleteResponse }),
  ask('GET', '/v1/responses/{id}/input_items', { endpoint: 'responses', run: listInputItems }),
  post('/v1/embeddings', { endpoint: 'embeddings', format: 'embeddings', run: exchange }),
  post('/v1/messages', { endpoint: 'messages', format: 'messages', run: exchange }),
  post('/v1/messages/count_tokens', {
    endpoint: 'count_tokens',
    format: 'messages',
    run: countMessageTokens,
  }),
]

/** A route of the chat family that takes no body. */
function ask(
  method: 'GET' | 'DELETE',
  path: string,
  { endpoint, run }: { endpoint: Endpoint; run: Handler['run'] },
): Route<Handler> {
  return { method, path, handler: { endpoint, codec: codecOf('chat'), run } }
}

/** A route that takes a body in a wire format, and answers in its family's envelope. */
function post(
  path: string,
  { endpoint, format, run }: { endpoint: Endpoint; format: Format; run: typeof exchange },
): Route<Handler> {
  return { method: 'POST', path, handler: { endpoint, codec: codecOf(format), run } }
}
