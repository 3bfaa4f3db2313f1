// A collector that takes every trace and keeps none: what is measured is what tracing costs the gateway.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', request.headers['content-type'] ?? '').end()
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
