// The floor: the cost of a gateway on node:http and undici that only parses both bodies. No key, no limit, no books, no
// log; streams pass through unchanged.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

const whole = poolOf('UPSTREAM')
const streams = poolOf('UPSTREAM_OF_STREAMS')

function poolOf(name: string): Pool {
  return new Pool(process.env[name] ?? '', { connections: 8_192, pipelining: 1 })
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    pass(request, Buffer.concat(chunks), response).catch(() => response.destroy())
  })
})
server.listen(0, '127.0.0.1', 1024, () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

async function pass(
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const asked = JSON.parse(body.toString()) as { readonly stream?: boolean }
  const answer = await (asked.stream === true ? streams : whole).request({
    method: 'POST',
    path: request.url ?? '/',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body,
  })
  if (asked.stream === true) passStream(answer, response)
  else {
    const text = await answer.body.text()
    JSON.parse(text)
    response.writeHead(answer.statusCode, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }
}

function passStream(answer: Dispatcher.ResponseData, response: ServerResponse): void {
  response.writeHead(answer.statusCode, { 'content-type': 'text/event-stream' })
  answer.body.on('error', () => response.destroy())
  response.once('close', () => answer.body.destroy())
  answer.body.pipe(response)
}
