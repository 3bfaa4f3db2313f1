// Calls to the sandbox.
import type { TestGateway } from './gateway.ts'

/** Streams an answer as the script says; resolves with the first byte. */
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

/** Asks for a whole answer of 100 tokens, which costs 0.000203 USD; returns the status. */
export async function callSandbox(url: string, secret: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-tollgate-sandbox': 'tokens=100' },
    body: JSON.stringify({
      model: 'sandbox-chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello there' }],
    }),
  })
  await response.arrayBuffer()
  return response.status
}
