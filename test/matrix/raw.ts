// Calls without a library, for requests that no library would send.
import type { TestGateway } from '../support/gateway.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into, not typed
export type Body = Record<string, any>

export type RawAnswer = {
  readonly status: number
  /** For a stream, its text under `stream`. */
  readonly body: Body
  readonly requestId: string
}

export const POSTS = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  input_tokens: '/v1/responses/input_tokens',
  embeddings: '/v1/embeddings',
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
} as const

export type Post = keyof typeof POSTS

export type Raw = {
  /** A body that is not a string is sent as JSON. */
  post(endpoint: Post, body: unknown): Promise<RawAnswer>
  call(method: string, path: string): Promise<RawAnswer>
}

export function rawCalls({ url }: TestGateway, key: string): Raw {
  const send = async (path: string, init: RequestInit): Promise<RawAnswer> => {
    const isMessages = path.startsWith('/v1/messages')
    const response = await fetch(url + path, {
      ...init,
      headers: {
        'content-type': 'application/json',
        ...(isMessages ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }),
      },
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    return {
      status: response.status,
      body: isStream ? { stream: await response.text() } : ((await response.json()) as Body),
      requestId: response.headers.get('x-request-id') ?? '',
    }
  }
  return {
    post: (endpoint, body) =>
      send(POSTS[endpoint], {
        method: 'POST',
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    call: (method, path) => send(path, { method }),
  }
}
