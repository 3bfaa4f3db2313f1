// A provider that answers as a test says, once the whole request has arrived.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type TestProvider = AsyncDisposable & {
  /** http://127.0.0.1:PORT */
  readonly url: string
}

export async function startProvider(
  answer: (message: IncomingMessage, response: ServerResponse, body: Buffer) => unknown,
): Promise<TestProvider> {
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => answer(message, response, Buffer.concat(chunks)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
