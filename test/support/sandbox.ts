// A streamed call of the sandbox, played as its script says.
import type { TestGateway } from './gateway.ts'

/** Resolves with the first byte. */
export function streamSandbox(
  gateway: TestGateway,
  key: string,
  script: string,
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-tollgate-sandbox': script },
    body: JSON.stringify({
      model: 'sandbox-chat',
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
}
