// Puts the proxies of deploy/ in front of a real gateway, with TLS, and has a model speak through each: the next word is
// spoken only when the last one has arrived, so that a proxy which holds back a stream stands still. Also how each
// configuration file is turned into one that runs on this machine: other ports, other certificates.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { freePort, start, type Running } from '../../test/support/process.ts'
import { startGateway } from '../../test/support/gateway.ts'
import { startProvider } from '../../test/support/provider.ts'
import { until } from '../../test/support/until.ts'
import { runTool, systemProgram } from './tools.ts'

type Ports = { readonly http: number; readonly https: number; readonly gateway: number }

export type Proxy = {
  readonly name: string
  /** Writes its configuration for this machine; returns the arguments to check it, and to run it in the foreground. */
  readonly prepare: (folder: string, ports: Ports) => { check: string[]; run: string[] }
}

export const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    prepare(folder, { http, https, gateway }) {
      const { certificate, key } = makeCertificate(folder)
      const site = adapted('deploy/nginx/tollgate.conf', [
        [/listen (\[::\]:)?80;/g, `listen $1${http};`],
        [/listen (\[::\]:)?443 /g, `listen $1${https} `],
        [/127\.0\.0\.1:4000/g, `127.0.0.1:${gateway}`],
        [/\/etc\/nginx\/tls\/tollgate\.crt/g, certificate],
        [/\/etc\/nginx\/tls\/tollgate\.key/g, key],
      ])
      const own = (name: string): string => join(folder, name)
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      writeFileSync(
        own('nginx.conf'),
        [
          `pid ${own('nginx.pid')};`,
          'error_log stderr;',
          // One process: a killed master would leave its workers behind.
          'daemon off; master_process off;',
          'events {}',
          `http { access_log off;`,
          ...temporary.map((kind) => `${kind}_temp_path ${own(kind)};`),
          `${site} }`,
        ].join('\n'),
      )
      const args = ['-c', own('nginx.conf'), '-p', folder]
      return { check: ['-t', ...args], run: args }
    },
  },
  {
    name: 'haproxy',
    prepare(folder, { http, https, gateway }) {
      const { certificate, key } = makeCertificate(folder)
      const pem = join(folder, 'tollgate.pem')
      writeFileSync(pem, `${readFileSync(certificate, 'utf8')}${readFileSync(key, 'utf8')}`)
      const file = join(folder, 'haproxy.cfg')
      const text = adapted('deploy/haproxy/haproxy.cfg', [
        [/bind :80\b/g, `bind :${http}`],
        [/bind :443\b/g, `bind :${https}`],
        [/127\.0\.0\.1:4000/g, `127.0.0.1:${gateway}`],
        [/\/etc\/haproxy\/tls\/tollgate\.pem/g, pem],
        // As many as this machine's limit on open files allows.
        [/maxconn 20000/g, 'maxconn 500'],
      ])
      writeFileSync(file, text)
      return { check: ['-c', '-f', file], run: ['-db', '-f', file] }
    },
  },
]

/** Every change must find its place, or the file has changed and the check checks something else. */
export function adapted(file: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce(
    (text, [pattern, value]) => {
      assert.match(text, pattern, `${file} has nothing like ${String(pattern)}`)
      return text.replaceAll(pattern, value)
    },
    readFileSync(file, 'utf8'),
  )
}

function makeCertificate(folder: string): { readonly certificate: string; readonly key: string } {
  mkdirSync(folder, { recursive: true })
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const name = ['-subj', '/CN=tollgate.example.com', '-days', '2']
  const files = ['-keyout', key, '-out', certificate]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  runTool('openssl', ['req', ...kind, ...files, ...name])
  return { certificate, key }
}

const WORDS = ['This ', 'is ', 'a ', 'slow ', 'answer.']
const CONFIG = (url: string): string => `
providers: { slow: { kind: openai, base_url: "${url}/v1", api_key: sk-x } }
models:
  slow: { targets: [slow/slow], price: { input: 1, output: 1 }, context: 10000, max_output: 1000 }
`

/** Throws if a stream, a redirect or a large request does not get through as it should. */
export async function streamThrough(proxy: Proxy, folder: string): Promise<void> {
  let arrived = 0
  await using provider = await startProvider(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const [index, word] of WORDS.entries()) {
      response.write(event({ index: 0, delta: { content: word } }))
      await until(() => arrived > index)
    }
    response.write(event({ index: 0, delta: {}, finish_reason: 'stop' }))
    response.end('data: [DONE]\n\n')
  })
  await using gateway = await startGateway({ config: CONFIG(provider.url) })
  const key = await gateway.key('proxy', 'slow')
  const ports = {
    http: await freePort(),
    https: await freePort(),
    gateway: Number(new URL(gateway.url).port),
  }
  await using running = start(systemProgram(proxy.name), proxy.prepare(folder, ports).run, {
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  })
  await answering(running, ports.https)
  const stream = await post(ports.https, key, { stream: true, content: 'hello' })
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    arrived = WORDS.filter((word) => text.includes(JSON.stringify(word))).length
  }
  assert.equal(arrived, WORDS.length, text)
  assert.match(text, /data: \[DONE\]/)

  arrived = WORDS.length
  const large = await post(ports.https, key, { stream: true, content: 'x '.repeat(10_000_000) })
  // Tollgate judges it, not the proxy: an answer of nginx or haproxy has no such header.
  assert.ok(large.headers['x-request-id'], String(large.statusCode))
  large.resume()
  const plain = await fetch(`http://127.0.0.1:${ports.http}/v1/models`, { redirect: 'manual' })
  assert.equal(plain.status, 308)
}

async function answering(running: Running, port: number): Promise<void> {
  await until(async () => {
    const isUp = await get(port, '/readyz').then(
      ({ statusCode }) => statusCode === 200,
      () => false,
    )
    const [ended] = await Promise.race([running.ended.then((end) => [end]), Promise.resolve([])])
    if (ended !== undefined) throw new Error(`it ended: ${ended.stderr}`)
    return isUp
  })
}

function get(port: number, path: string): Promise<IncomingMessage> {
  return answerTo(request({ ...at(port), path }).end())
}

function post(
  port: number,
  key: string,
  { stream, content }: { readonly stream: boolean; readonly content: string },
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const asked = request({ ...at(port), path: '/v1/chat/completions', method: 'POST', headers })
  return answerTo(
    asked.end(JSON.stringify({ model: 'slow', stream, messages: [{ role: 'user', content }] })),
  )
}

/** A stream that stands still must fail, and not stop the whole check; no sound one takes as long. */
const ANSWER_MS_MAX = 120_000

function at(port: number) {
  const tls = { servername: 'tollgate.example.com', rejectUnauthorized: false }
  return { host: '127.0.0.1', port, signal: AbortSignal.timeout(ANSWER_MS_MAX), ...tls }
}

async function answerTo(asked: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

function event(choice: object): string {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'slow' }
  return `data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`
}
