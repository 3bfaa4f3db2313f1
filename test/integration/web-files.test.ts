// The headers of every file of the web interface, and that nothing outside its folder is served.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { webFiles } from '../../src/edge/files.ts'
import { ClientGone } from '../../src/exchange/reply.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-web-'))
const root = join(folder, 'dist')
const files = webFiles(root)
const server = createServer((message, response) => {
  void files.serve(message.url ?? '', message, response).then((isServed) => {
    if (!isServed) response.writeHead(404).end()
  })
})
let url = ''

before(async () => {
  mkdirSync(join(root, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret'), 'a secret')
  writeFileSync(join(root, 'index.html'), '<p>page</p>')
  writeFileSync(join(root, 'assets', 'a.js'), 'export {}')
  writeFileSync(join(root, 'assets', 'a.js.br'), brotliCompressSync('export {}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

test('no page runs inline script, loads from elsewhere, or is framed', async () => {
  for (const path of ['/', '/assets/a.js']) {
    const { status, headers } = await fetch(url + path)
    assert.equal(status, 200)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
  }
})

test('files with a hash in their name are cached, and the page is not', async () => {
  const kept = await fetch(`${url}/assets/a.js`)
  assert.match(kept.headers.get('cache-control') ?? '', /immutable/)
  const page = await fetch(`${url}/settings/api-access`, { headers: { accept: 'text/html' } })
  assert.equal(await page.text(), '<p>page</p>')
  assert.equal(page.headers.get('cache-control'), 'no-cache')
})

for (const [path, status] of [
  ['/settings/api-access', 200],
  ['/settings/api-access/key_1', 200],
  ['/welcome', 200],
  ['/settings/nothing.js', 404],
  ['/nothing', 404],
] as const)
  test(`a HEAD request for ${path} gets ${status}`, async () => {
    const head = await fetch(url + path, { method: 'HEAD', headers: { accept: '*/*' } })
    assert.equal(head.status, status)
  })

for (const [accepted, encoding] of [
  ['gzip, br', 'br'],
  ['br', 'br'],
  ['gzip', null],
  ['br;q=0', null],
] as const)
  test(`a client that accepts "${accepted}" gets a script ${encoding ?? 'uncompressed'}`, async () => {
    const answer = await fetch(`${url}/assets/a.js`, { headers: { 'accept-encoding': accepted } })
    assert.equal(answer.headers.get('content-encoding'), encoding)
    assert.equal(answer.headers.get('vary'), 'accept-encoding')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/javascript/)
    assert.equal(await answer.text(), 'export {}')
  })

for (const path of ['/%2e%2e/secret', '/..%2fsecret', '/assets/%2e%2e/%2e%2e/secret', '/%00', '/%'])
  test(`${path} is not found`, async () => {
    assert.equal((await fetch(url + path)).status, 404)
  })

test('a client that leaves after the last byte has the whole file, and one that leaves before has not', async (context) => {
  const size = 1_000_000
  writeFileSync(join(root, 'assets', 'long.js'), 'a'.repeat(size))
  const outcomes: Promise<string>[] = []
  const watched = createServer((message, response) => {
    const served = files.serve(message.url ?? '', message, response)
    outcomes.push(
      served.then(
        () => 'sent',
        (thrown: unknown) => (thrown instanceof ClientGone ? 'gone' : String(thrown)),
      ),
    )
  })
  context.after(() => watched.close())
  await new Promise<void>((resolve) => watched.listen(0, '127.0.0.1', resolve))
  const { port } = watched.address() as AddressInfo
  const readUntil = async (bytes: number): Promise<string | undefined> => {
    const client = connect(port, '127.0.0.1')
    client.write('GET /assets/long.js HTTP/1.1\r\nhost: a\r\n\r\n')
    let text = ''
    for await (const chunk of client) {
      text += String(chunk)
      if (text.length - text.indexOf('\r\n\r\n') - 4 >= bytes) break
    }
    return outcomes.at(-1)
  }
  // Whether the server first notices its own end or the client's is a race: of a hundred, some go either way.
  for (let time = 0; time < 100; time++) assert.equal(await readUntil(size), 'sent')
  writeFileSync(join(root, 'assets', 'long.js'), 'a'.repeat(100 * size))
  assert.equal(await readUntil(size), 'gone')
})
