// Requests as OpenTelemetry's traces: what a collector receives, whose trace it belongs to, who learns of it, and what
// happens where there is no collector.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startCollector, type CollectedSpan, type TestCollector } from '../support/collector.ts'
import { startGateway, type LogLine, type TestGateway } from '../support/gateway.ts'
import { freePort } from '../support/process.ts'
import { startProvider, type TestProvider } from '../support/provider.ts'
import { callSandbox } from '../support/sandbox.ts'
import { until } from '../support/until.ts'

const ANSWER = readFileSync(new URL('../fixtures/providers/chat.json', import.meta.url))
const PROMPT = 'When does the gate open?'
const FACTS = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
/** No test waits for a batch to fill. */
const SOON = { OTEL_BSP_SCHEDULE_DELAY: '50' }
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

let provider: TestProvider
const told: IncomingHttpHeaders[] = []

before(async () => {
  provider = await startProvider(({ headers, url = '' }, response) => {
    told.push(headers)
    if (url.startsWith('/busy')) return response.writeHead(503).end('{}')
    return response.setHeader('content-type', 'application/json').end(ANSWER)
  })
})
after(() => provider[Symbol.asyncDispose]())

/** One model whose first target is busy, and one whose provider may learn of traces. */
function configOf(more = ''): string {
  return `
providers:
  busy: { kind: openai, base_url: "${provider.url}/busy/v1" }
  local: { kind: openai, base_url: "${provider.url}/v1", models: { m: { ${FACTS} } } }
  friend: { kind: openai, base_url: "${provider.url}/v1", propagate: true }
models:
  house: { targets: [busy/m], fallbacks: [local/m], ${FACTS} }
  open: { targets: [friend/m], ${FACTS} }
${more}`
}

type Call = { readonly id: string; readonly status: number }

async function ask(
  gateway: Pick<TestGateway, 'url'>,
  secret: string,
  { model = 'house', headers = {} }: { model?: string; headers?: Record<string, string> } = {},
): Promise<Call> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] }),
  })
  await response.arrayBuffer()
  return { id: response.headers.get('x-request-id') ?? '', status: response.status }
}

const byName = (spans: readonly CollectedSpan[], name: string): CollectedSpan[] =>
  spans.filter((span) => span.name === name)

for (const protocol of ['http/protobuf', 'http/json'] as const)
  test(`a request is a span, with its hold, its attempts and its settlement, by ${protocol}`, async () => {
    await using collector = await startCollector()
    // One by the variables, one by the file.
    const isFile = protocol === 'http/json'
    const headers = 'headers: { x-tenant: "seven" }'
    const section = `telemetry: { otlp: { endpoint: "${collector.url}/", protocol: http/json, ${headers} } }`
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=seven',
    }
    await using gateway = await startGateway({
      config: configOf(isFile ? section : ''),
      env: { ...SOON, OTEL_SERVICE_NAME: 'gate', ...(isFile ? {} : env) },
    })
    const secret = await gateway.key('app', 'house')
    const { id, status } = await ask(gateway, secret)
    assert.equal(status, 200)
    const spans = await collector.traceWith('chat house')
    assert.equal(spans.length, 5)

    const [request] = byName(spans, 'chat house')
    assert.ok(request)
    assert.equal(request.kind, 'server')
    assert.equal(request.parentSpanId, '')
    const { 'tollgate.key.id': key, 'tollgate.cost_usd': cost, ...attributes } = request.attributes
    assert.match(String(key), /^key_/)
    assert.ok(Number(cost) > 0)
    assert.deepEqual(attributes, {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'house',
      'gen_ai.request.stream': false,
      'gen_ai.response.model': 'm',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 7,
      'tollgate.request.id': id,
    })
    assert.equal(request.resource['service.name'], 'gate')
    assert.equal(request.resource['telemetry.sdk.language'], 'nodejs')

    const { hostname, port } = new URL(provider.url)
    const called = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'server.address': hostname,
      'server.port': Number(port),
    }
    assert.deepEqual(
      byName(spans, 'chat m').map((span) => [span.kind, span.isError, span.attributes]),
      [
        [
          'client',
          true,
          { ...called, 'tollgate.target': 'busy/m', 'error.type': 'provider_overloaded' },
        ],
        ['client', false, { ...called, 'tollgate.target': 'local/m' }],
      ],
    )
    for (const name of ['hold', 'settle']) {
      const [{ kind, isError } = {}] = byName(spans, name)
      assert.deepEqual([kind, isError], ['internal', false], name)
    }
    for (const child of spans.filter((span) => span !== request)) {
      assert.equal(child.parentSpanId, request.spanId)
      assert.ok(child.startNs >= request.startNs && child.endNs <= request.endNs, child.name)
      assert.ok(child.startNs <= child.endNs, child.name)
    }

    const line = await until(() => gateway.log().find(isRequest(id)))
    assert.equal(line['trace_id'], request.traceId)
    assert.equal((await gateway.tollgate('explain', id))['trace_id'], request.traceId)
    const type = isFile ? 'application/json' : 'application/x-protobuf'
    assert.deepEqual([...new Set(collector.received)], [`${type} /v1/traces`])
    assert.equal(collector.header('x-tenant'), 'seven')
    assert.doesNotMatch(JSON.stringify(collector.spans, bigints), new RegExp(PROMPT))
  })

/** The attempts of a request have lines of their own. */
function isRequest(id: string): (line: LogLine) => boolean {
  return ({ event, request_id }) => event === 'request' && request_id === id
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

describe('with every trace sampled unless its client says otherwise', () => {
  let collector: TestCollector
  let gateway: TestGateway
  let secret: string
  before(async () => {
    collector = await startCollector()
    const env = { ...SOON, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/traces` }
    gateway = await startGateway({ config: configOf(), env })
    secret = await gateway.key('app', 'house,open', '--budget', '10')
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await collector[Symbol.asyncDispose]()
  })

  test('the trace of a client goes on here, and at a provider that may learn of it', async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'one=1,two=2' }
    const { id } = await ask(gateway, secret, { model: 'open', headers })
    const spans = await collector.traceWith('chat open')
    const [request] = byName(spans, 'chat open')
    const [attempt] = byName(spans, 'chat m')
    assert.deepEqual(
      [request?.traceId, request?.parentSpanId, request?.traceState],
      [TRACE, PARENT, 'one=1,two=2'],
    )
    const { traceparent, tracestate } = told.at(-1) ?? {}
    assert.equal(traceparent, `00-${TRACE}-${attempt?.spanId}-01`)
    assert.equal(tracestate, 'one=1,two=2')
    assert.equal((await gateway.logged(id))['trace_id'], TRACE)

    await ask(gateway, secret, { model: 'house', headers })
    assert.deepEqual(
      [told.at(-1)?.['traceparent'], told.at(-1)?.['tracestate']],
      [undefined, undefined],
    )
  })

  test('a client that samples nothing has its trace id in the log and no spans', async () => {
    const other = TRACE.replaceAll('4', '5')
    const headers = { traceparent: `00-${other}-${PARENT}-00` }
    const { id } = await ask(gateway, secret, { model: 'open', headers })
    assert.equal((await gateway.logged(id))['trace_id'], other)
    assert.match(String(told.at(-1)?.['traceparent']), new RegExp(`^00-${other}-\\w{16}-00$`))
    const after = await ask(gateway, secret, { model: 'open' })
    await until(() => collector.spans.some(ofRequest(after.id)))
    assert.ok(!collector.spans.some(({ traceId }) => traceId === other))
  })

  test('a header that is no trace begins a new one', async () => {
    for (const traceparent of ['nonsense', `00-${'0'.repeat(32)}-${PARENT}-01`, '']) {
      const { id, status } = await ask(gateway, secret, { model: 'open', headers: { traceparent } })
      assert.equal(status, 200)
      const span = await until(() => collector.spans.find(ofRequest(id)))
      assert.equal(span.parentSpanId, '')
      assert.match(span.traceId, /^(?!0{32})[0-9a-f]{32}$/)
    }
  })

  test('a refused call is a span that names the refusal, and no fault', async () => {
    const unknown = await ask(gateway, 'tg_live_nobody')
    const span = await until(() => collector.spans.find(ofRequest(unknown.id)))
    assert.deepEqual([span.name, span.isError], ['POST /v1/chat/completions', false])
    assert.equal(span.attributes['error.type'], 'invalid_api_key')

    const poor = await gateway.key('poor', 'open', '--budget', '0')
    const { id, status } = await ask(gateway, poor, { model: 'open' })
    assert.equal(status, 402)
    const refused = await until(() => collector.spans.find(ofRequest(id)))
    const [hold] = collector.spans.filter(({ parentSpanId }) => parentSpanId === refused.spanId)
    assert.equal(hold?.name, 'hold')
    assert.equal(hold?.isError, true)
  })

  test('a stream tells when its first words came', async () => {
    const stream = await gateway.key('stream', 'sandbox-chat')
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stream}` },
      body: JSON.stringify({
        model: 'sandbox-chat',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    })
    await response.text()
    const id = response.headers.get('x-request-id') ?? ''
    const { attributes } = await until(() => collector.spans.find(ofRequest(id)))
    assert.equal(attributes['gen_ai.request.stream'], true)
    assert.equal(attributes['gen_ai.provider.name'], 'sandbox')
    assert.ok(Number(attributes['gen_ai.response.time_to_first_chunk']) > 0)
  })
})

function ofRequest(id: string): (span: CollectedSpan) => boolean {
  return ({ attributes }) => attributes['tollgate.request.id'] === id
}

test('spans that wait are sent when the gateway stops', async () => {
  await using collector = await startCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '3600000' }
  await using gateway = await startGateway({ env })
  const secret = await gateway.key('app', 'sandbox-chat')
  for (let count = 0; count < 3; count++) assert.equal(await callSandbox(gateway.url, secret), 200)
  assert.deepEqual(collector.spans, [])
  assert.equal((await gateway.stop()).code, 0)
  assert.equal(collector.spans.filter(({ kind }) => kind === 'server').length, 3)
})

test('a share of the traces is sampled, or none', async () => {
  await using collector = await startCollector()
  const env = {
    ...SOON,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'traceidratio',
  }
  await using gateway = await startGateway({ env: { ...env, OTEL_TRACES_SAMPLER_ARG: '0.5' } })
  const secret = await gateway.key('app', 'sandbox-chat')
  // That all of them fall on one side is less likely than a broken machine.
  const calls = Array.from({ length: 64 }, () => callSandbox(gateway.url, secret))
  assert.deepEqual(new Set(await Promise.all(calls)), new Set([200]))
  assert.equal((await gateway.stop()).code, 0)
  const sampled = collector.spans.filter(({ kind }) => kind === 'server').length
  assert.ok(sampled > 0 && sampled < 64, String(sampled))
})

test('without a collector requests are served, the log says so once, and the end does not wait', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const hurry = {
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_BSP_MAX_QUEUE_SIZE: '8',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
  }
  const env = { ...SOON, ...hurry, OTEL_EXPORTER_OTLP_ENDPOINT: url }
  await using gateway = await startGateway({ env })
  const secret = await gateway.key('app', 'sandbox-chat')
  const call = (): Promise<number> => callSandbox(gateway.url, secret)
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, call))), new Set([200]))
  const { level, cause } = await gateway.logged('spans_lost')
  assert.equal(level, 'warn')
  assert.match(String(cause), /ECONNREFUSED/)
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, call))), new Set([200]))
  assert.equal((await gateway.stop()).code, 0)
  assert.equal(gateway.log().filter(({ event }) => event === 'spans_lost').length, 1)
})

test('that a collector is away is said in one line, and not again by the packages', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const hurry = { ...SOON, OTEL_EXPORTER_OTLP_TIMEOUT: '100' }
  await using gateway = await startGateway({ env: { ...hurry, OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  assert.equal(await callSandbox(gateway.url, await gateway.key('app', 'sandbox-chat')), 200)
  await gateway.logged('spans_lost')
  assert.equal((await gateway.stop()).code, 0)
  const warned = gateway.log().filter(({ level }) => level === 'warn')
  assert.deepEqual(
    warned.map(({ event }) => event),
    ['spans_lost'],
  )
})

test('variables that cannot be followed are named, and the gateway starts', async () => {
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  }
  await using gateway = await startGateway({ env: variables })
  const { message } = await gateway.logged('tracing')
  assert.match(String(message), /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf or http\/json/)
})

describe('off', () => {
  test('nothing of OpenTelemetry is loaded', async () => {
    const loaded = async (env: Readonly<Record<string, string>>): Promise<string[]> => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-loaded-'))
      await using gateway = await startGateway({ env: { ...env, NODE_V8_COVERAGE: folder } })
      const secret = await gateway.key('app', 'sandbox-chat')
      assert.equal(await callSandbox(gateway.url, secret), 200)
      assert.equal((await gateway.stop()).code, 0)
      return scriptsIn(folder).filter((path) =>
        readFileSync(path, 'utf8').includes('BatchSpanProcessor'),
      )
    }
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
    assert.deepEqual(await loaded({}), [])
    assert.deepEqual(await loaded({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), [])
    assert.notDeepEqual(await loaded({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' }), [])
  })

  test('a provider that may learn of the client’s trace is told it as it is', async () => {
    await using gateway = await startGateway({ config: configOf() })
    const secret = await gateway.key('app', 'house,open')
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'one=1' }
    const { id } = await ask(gateway, secret, { model: 'open', headers })
    const { traceparent, tracestate } = told.at(-1) ?? {}
    assert.deepEqual([traceparent, tracestate], [headers.traceparent, headers.tracestate])
    assert.equal((await gateway.logged(id))['trace_id'], undefined)
    await ask(gateway, secret, { headers })
    assert.equal(told.at(-1)?.['traceparent'], undefined)
  })
})

/** The files that a process had loaded when it ended, as V8 counted them. */
function scriptsIn(folder: string): readonly string[] {
  type Coverage = { readonly result: readonly { readonly url: string }[] }
  const urls = readdirSync(folder).flatMap((name) =>
    (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage).result.map(({ url }) => url),
  )
  assert.ok(urls.length > 0)
  return [...new Set(urls)]
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url))
}
