// The data plane as an application sees it: headers, order of checks, answers, streams, bad input, the log.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { accessToken, scrape } from '../support/scraper.ts'

let gateway: TestGateway
let key: string

before(async () => {
  gateway = await startGateway()
  key = await gateway.key('demo', 'sandbox-chat,sandbox-reasoner,sandbox-embedding')
})
after(() => gateway.stop())

const HELLO = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into, not typed
type Body = Record<string, any>
type Call = Omit<RequestInit, 'headers'> & { headers?: Record<string, string>; json?: unknown }
type Answer = { status: number; headers: Headers; body: Body }

async function call(path: string, init: Call = {}): Promise<Answer> {
  const { json, ...rest } = init
  const response = await fetch(gateway.url + path, {
    ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    ...rest,
    headers: { 'content-type': 'application/json', ...rest.headers },
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  }
}

const bearer = (secret = key) => ({ authorization: `Bearer ${secret}` })
const chat = (json: unknown, secret = key) =>
  call('/v1/chat/completions', { json, headers: bearer(secret) })

describe('answers', () => {
  test('a chat completion has the specified shape', async () => {
    const { status, headers, body } = await chat(HELLO)
    assert.equal(status, 200)
    assert.equal(body['object'], 'chat.completion')
    assert.equal(body['model'], 'sandbox-chat')
    assert.equal(typeof body['id'], 'string')
    const [choice] = body['choices'] as Body[]
    assert.equal(choice?.['index'], 0)
    assert.equal(choice?.['finish_reason'], 'stop')
    assert.equal(choice?.['message'].role, 'assistant')
    assert.ok(choice?.['message'].content.length > 0)
    assert.match(headers.get('x-request-id') ?? '', /^req_/)
    assert.equal(headers.get('x-tollgate-target'), 'sandbox/sandbox-chat')
    assert.match(headers.get('x-tollgate-cost') ?? '', /^0\.0000\d+$/)
    assert.ok(Number(headers.get('x-tollgate-budget-remaining')) < 10)
  })

  test('a stream comes in pieces and ends with [DONE]', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(),
      body: JSON.stringify({ ...HELLO, stream: true }),
    })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    const frames = (await response.text()).trimEnd().split('\n\n')
    assert.equal(frames.at(-1), 'data: [DONE]')
    const chunks = frames
      .slice(0, -1)
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as Body)
    assert.ok(chunks.length > 3)
    assert.ok(chunks.every((chunk) => chunk['model'] === 'sandbox-chat' && !chunk['usage']))
    assert.equal(chunks.at(-1)?.['choices'][0].finish_reason, 'stop')
  })

  test('a key can list its models and read one of them', async () => {
    const list = await call('/v1/models', { headers: bearer() })
    assert.equal(list.status, 200)
    assert.deepEqual((list.body['data'] as { id: string }[]).map(({ id }) => id).toSorted(), [
      'sandbox-chat',
      'sandbox-embedding',
      'sandbox-reasoner',
    ])
    const one = await call('/v1/models/sandbox-chat', { headers: bearer() })
    assert.deepEqual(
      [one.status, one.body['id'], one.body['object']],
      [200, 'sandbox-chat', 'model'],
    )
    const other = await call('/v1/models/sandbox-chat@messages', { headers: bearer() })
    assert.deepEqual([other.status, other.body['error'].code], [404, 'model_not_found'])
  })

  test('the list of models comes in pages, if that is asked for', async () => {
    const page = async (query: string) => {
      const { status, body } = await call(`/v1/models${query}`, { headers: bearer() })
      assert.equal(status, 200, JSON.stringify(body))
      const ids = (body['data'] as { id: string }[]).map(({ id }) => id)
      assert.deepEqual([body['first_id'], body['last_id']], [ids.at(0) ?? null, ids.at(-1) ?? null])
      return { ids, hasMore: body['has_more'] as boolean }
    }
    const { ids: all, hasMore } = await page('')
    const [a = '', b = '', c = ''] = all
    assert.deepEqual([all.length, hasMore], [3, false])
    for (const [query, ids, more] of [
      ['?limit=2', [a, b], true],
      ['?limit=3', [a, b, c], false],
      ['?limit=1000', [a, b, c], false],
      [`?after_id=${a}`, [b, c], false],
      [`?after_id=${a}&limit=1`, [b], true],
      [`?after_id=${c}`, [], false],
      [`?before_id=${c}`, [a, b], false],
      [`?before_id=${c}&limit=1`, [b], true],
      [`?before_id=${a}&limit=1`, [], false],
    ] as const) {
      assert.deepEqual(await page(query), { ids, hasMore: more }, query)
    }
    for (const [query, param] of [
      ['?limit=0', 'limit'],
      ['?limit=1001', 'limit'],
      ['?limit=1.5', 'limit'],
      ['?limit=', 'limit'],
      ['?after_id=gpt-5', 'after_id'],
      ['?before_id=', 'before_id'],
      [`?after_id=${a}&before_id=${c}`, 'before_id'],
    ] as const) {
      const { status, body } = await call(`/v1/models${query}`, { headers: bearer() })
      assert.deepEqual([status, body['error'].param], [400, param], query)
    }
  })

  test('health needs no key', async () => {
    assert.deepEqual((await call('/healthz')).body, { status: 'ok' })
    assert.deepEqual((await call('/readyz')).body, { status: 'ready' })
  })

  test('the sandbox’s own counts are believed, however long the prompt', async () => {
    const secret = await gateway.key('long', 'gpt-5-mini', '--mode', 'test')
    const messages = [{ role: 'user', content: 'x'.repeat(131_072 * 4 + 1) }]
    const played = await chat({ model: 'gpt-5-mini', messages }, secret)
    const id = String(played.headers.get('x-request-id'))
    const { body: request } = await call(`/v1/requests/${id}`, { headers: bearer(secret) })
    assert.deepEqual([request['input_tokens'], request['estimated']], [131_073, false])
    assert.equal(
      gateway.log().find(({ event }) => event === 'usage_impossible'),
      undefined,
    )
  })

  test('a test key calls any public name and pays nothing', async () => {
    const secret = await gateway.key('tests', 'sandbox-chat,gpt-5-mini', '--mode', 'test')
    // The catalogue has no such model, so the sandbox's own limits apply.
    const played = await chat({ ...HELLO, model: 'gpt-5-mini' }, secret)
    assert.equal(played.status, 200)
    const { completion_tokens } = played.body['usage'] as Body
    const { body: request } = await call(
      `/v1/requests/${String(played.headers.get('x-request-id'))}`,
      { headers: bearer(secret) },
    )
    assert.deepEqual([request['output_tokens'], request['estimated']], [completion_tokens, false])
    assert.ok(Number(completion_tokens) > 0)
    const { body: list } = await call('/v1/models', { headers: bearer(secret) })
    assert.deepEqual(
      (list['data'] as Body[]).map(({ id, kind }) => [id, kind]),
      [
        ['sandbox-chat', 'chat'],
        ['gpt-5-mini', null],
      ],
    )
    const one = await call('/v1/models/gpt-5-mini', { headers: bearer(secret) })
    assert.equal(one.body['id'], 'gpt-5-mini')
    assert.match(secret, /^tg_test_/)
    const { status, headers } = await chat(HELLO, secret)
    assert.equal(status, 200)
    assert.equal(headers.get('x-tollgate-cost'), '0')
  })
})

describe('refusals', () => {
  const refused = async (
    answer: Promise<Answer>,
    status: number,
    code: string,
  ): Promise<Answer> => {
    const got = await answer
    assert.deepEqual(
      [got.status, got.body['error']?.code],
      [status, code],
      JSON.stringify(got.body),
    )
    assert.match(got.headers.get('x-request-id') ?? '', /^req_/)
    return got
  }

  test('only the header of the family is accepted', async () => {
    const path = '/v1/chat/completions'
    await refused(call(path, { json: HELLO }), 401, 'invalid_api_key')
    const wrong = await refused(
      call(path, { json: HELLO, headers: { 'x-api-key': key } }),
      401,
      'invalid_api_key',
    )
    assert.match(wrong.body['error'].message, /Authorization: Bearer/)
    assert.equal(wrong.headers.get('x-should-retry'), 'false')
    const messages = await refused(
      call('/v1/messages', { json: { ...HELLO, max_tokens: 9 }, headers: bearer() }),
      401,
      'invalid_api_key',
    )
    assert.equal(messages.body['type'], 'error')
    assert.equal(messages.body['error'].type, 'authentication_error')
    assert.equal(messages.body['request_id'], messages.headers.get('request-id'))
    assert.match(messages.body['error'].message, /x-api-key/)
  })

  test('path, key, permission, body, model and kind are checked in this order', async () => {
    await refused(call('/v1/nothing'), 404, 'not_found')
    const wrong = await refused(call('/v1/chat/completions'), 405, 'method_not_allowed')
    assert.equal(wrong.headers.get('allow'), 'POST')
    await refused(call('/v1'), 404, 'not_found')
    await refused(call('/metrics'), 401, 'not_signed_in')
    const health = await refused(call('/healthz', { method: 'POST' }), 405, 'method_not_allowed')
    assert.equal(health.headers.get('allow'), 'GET, HEAD')
    const narrow = await gateway.key('narrow', 'sandbox-chat', '--permissions', 'models')
    await refused(
      call('/v1/chat/completions', { method: 'POST', body: '{' }),
      401,
      'invalid_api_key',
    )
    await refused(
      call('/v1/chat/completions', { json: HELLO, headers: { 'x-tollgate-dry-run': 'maybe' } }),
      401,
      'invalid_api_key',
    )
    await refused(
      call('/v1/chat/completions', { method: 'POST', body: '{', headers: bearer(narrow) }),
      403,
      'endpoint_not_allowed',
    )
    await refused(
      call('/v1/chat/completions', { method: 'POST', body: '{', headers: bearer() }),
      400,
      'invalid_request',
    )
    const unknown = await refused(
      chat({ ...HELLO, model: 'sandbox-chatt' }),
      403,
      'model_not_allowed',
    )
    assert.match(unknown.body['error'].message, /"sandbox-chat"/)
    await refused(chat({ ...HELLO, model: 'sandbox-chat@messages' }), 403, 'model_not_allowed')
    await refused(chat({ ...HELLO, model: 'sandbox-embedding' }), 400, 'wrong_model_kind')
  })

  test('status changes from the command line apply within seconds', async () => {
    const secret = await gateway.key('stateful', 'sandbox-chat')
    const until = async (status: number, code: string | undefined): Promise<void> => {
      const deadline = performance.now() + 5_000
      for (;;) {
        const got = await chat(HELLO, secret)
        if (got.status === status && got.body['error']?.code === code) return
        assert.ok(performance.now() < deadline, `still ${got.status} ${got.body['error']?.code}`)
      }
    }
    await until(200, undefined)
    await gateway.tollgate('keys', 'pause', 'stateful')
    await until(401, 'paused_api_key')
    await gateway.tollgate('keys', 'resume', 'stateful')
    await until(200, undefined)
    await gateway.tollgate('keys', 'revoke', 'stateful', '--reason', 'test')
    await until(401, 'revoked_api_key')
  })

  test('requests never fail because their key changes', async () => {
    const secret = await gateway.key('changing', 'sandbox-chat')
    let isDone = false
    const changing = gateway
      .tollgate('keys', 'update', 'changing', '--budget', '11')
      .finally(() => (isDone = true))
    while (!isDone) assert.equal((await chat(HELLO, secret)).status, 200)
    await changing
    for (let more = 0; more < 20; more++) assert.equal((await chat(HELLO, secret)).status, 200)
  })

  test('an empty budget is refused with its figures', async () => {
    const poor = await gateway.key('poor', 'sandbox-chat', '--budget', '0')
    const { body } = await refused(chat(HELLO, poor), 402, 'key_budget_exceeded')
    const { scope, limit, spent, held, required, resets_at } = body['error']
    assert.deepEqual(
      { scope, limit, spent, held },
      { scope: 'key', limit: '0', spent: '0', held: '0' },
    )
    assert.ok(Number(required) > 0)
    assert.match(resets_at, /^\d{4}-/)
    assert.equal((await call('/v1/models', { headers: bearer(poor) })).status, 200)
    const hurried = await gateway.key('hurried', 'sandbox-chat', '--budget', '0', '--rpm', '5')
    const { headers } = await refused(chat(HELLO, hurried), 402, 'key_budget_exceeded')
    assert.equal(headers.get('x-tollgate-budget-remaining'), '0')
    assert.equal(headers.get('x-ratelimit-remaining-requests'), '5')
  })

  test('a wrong base URL gets a hint about /v1', async () => {
    for (const [path, hint] of [
      ['/chat/completions', 'make the base URL of this client end in /v1'],
      ['/models/sandbox-chat', 'make the base URL of this client end in /v1'],
      ['/v1/v1/messages', 'leave /v1 out of the base URL, because this client adds it itself'],
    ]) {
      const { status, body } = await call(String(path), { json: HELLO, headers: bearer() })
      assert.equal(status, 404)
      assert.equal(body['error'].message, `there is nothing at ${path}: ${hint}`)
    }
    const { body } = await call('/v1/images', { json: {}, headers: bearer() })
    assert.equal(body['error'].message, 'there is nothing at /v1/images')
  })

  test('malformed requests are a 4xx in the family’s envelope', async () => {
    const bodies: Record<string, string | Buffer> = {
      'no JSON': '{"model":',
      'a list': '[]',
      'no model': '{"messages":[]}',
      'a model of another type': '{"model":7,"messages":[]}',
      'no messages': '{"model":"sandbox-chat"}',
      'messages of another type': '{"model":"sandbox-chat","messages":"hello"}',
      'twice the model': '{"model":"sandbox-chat","messages":[],"model":"other"}',
      'stream is no boolean': '{"model":"sandbox-chat","messages":[],"stream":"yes"}',
      'no choices': '{"model":"sandbox-chat","messages":[],"n":0}',
      'ten thousand levels': `{"model":"sandbox-chat","messages":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'millions of objects': `{"model":"sandbox-chat","messages":[${'{},'.repeat(3_000_000)}{}]}`,
      'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
      nothing: '',
    }
    for (const [what, body] of Object.entries(bodies)) {
      const got = await call('/v1/chat/completions', { method: 'POST', body, headers: bearer() })
      assert.ok(got.status >= 400 && got.status < 500, `${what}: ${got.status}`)
      assert.equal(typeof got.body['error'].message, 'string', what)
      const messages = await call('/v1/messages', {
        method: 'POST',
        body,
        headers: { 'x-api-key': key },
      })
      assert.ok(messages.status >= 400 && messages.status < 500, `${what}: ${messages.status}`)
      assert.equal(messages.body['type'], 'error', what)
    }
  })

  test('input that is not HTTP is answered in the same form', async () => {
    const { port } = new URL(gateway.url)
    const ask = async (text: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(text)
      let answer = ''
      for await (const chunk of socket) answer += String(chunk)
      return answer
    }
    assert.match(
      await ask('nonsense\r\n\r\n'),
      /^HTTP\/1\.1 400 .*x-request-id: req_.*"invalid_request"/s,
    )
    for (const [head, status] of [
      ['GET /healthz HTTP/1.1', '400 .*"invalid_request"'],
      ['GET /healthz HTTP/1.1\r\nhost: a\r\nexpect: wonders\r\nconnection: close', '200 '],
    ]) {
      const answer = await ask(`${head}\r\n\r\n`)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status}`, 's'))
      assert.match(answer, /x-request-id: req_/)
    }
    const large = `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`
    assert.match(await ask(large), /^HTTP\/1\.1 431 .*x-request-id: req_/s)
  })

  test('a refusal by a rate limit carries the limits', async () => {
    const secret = await gateway.key('limited', 'sandbox-chat', '--rpm', '1')
    const first = await call('/v1/models', { headers: bearer(secret) })
    assert.equal(first.headers.get('x-ratelimit-limit-requests'), '1')
    const { headers } = await refused(chat(HELLO, secret), 429, 'rate_limit_exceeded')
    assert.equal(headers.get('x-ratelimit-remaining-requests'), '0')
    assert.equal(headers.get('x-should-retry'), 'true')
    assert.ok(Number(headers.get('retry-after')) > 0)
  })

  test('33 MB are refused, announced or not', async () => {
    const large = Buffer.alloc(33 * 1024 * 1024, 'x')
    await refused(
      call('/v1/chat/completions', { method: 'POST', body: large, headers: bearer() }),
      413,
      'request_too_large',
    )
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(large)
        controller.close()
      },
    })
    const init = { method: 'POST', body: stream, headers: bearer(), duplex: 'half' }
    await refused(call('/v1/chat/completions', init as Call), 413, 'request_too_large')
  })
})

describe('what a key can learn about itself', () => {
  test('a key sees its figures, and what would block it', async () => {
    const { body } = await call('/v1/key', { headers: bearer() })
    assert.equal(body['name'], 'demo')
    assert.equal(body['budget'], '10')
    assert.equal(body['blocked_by'], null)
    assert.ok(Number(body['frame'].remaining) > 0)
    assert.ok(!('secret' in body))
    const empty = await gateway.key('empty', 'sandbox-chat', '--budget', '0')
    const blocked = await call('/v1/key', { headers: bearer(empty) })
    assert.equal(blocked.body['blocked_by'].code, 'key_budget_exceeded')
    const idle = await gateway.key('idle', '')
    const stopped = await call('/v1/key', { headers: bearer(idle) })
    assert.equal(stopped.body['blocked_by'].code, 'model_not_allowed')
    const bereft = await gateway.key('bereft', 'removed-from-configuration')
    const lost = await call('/v1/key', { headers: bearer(bereft) })
    assert.equal(lost.body['blocked_by']?.code, 'model_not_allowed')
    const mute = await gateway.key('mute', 'sandbox-chat', '--permissions', '')
    const silent = await call('/v1/key', { headers: bearer(mute) })
    assert.equal(silent.body['blocked_by']?.code, 'endpoint_not_allowed')
    const talker = await gateway.key('talker', 'sandbox-chat', '--tpm', '1')
    await chat(HELLO, talker)
    const paused = await call('/v1/key', { headers: bearer(talker) })
    assert.equal(paused.body['blocked_by'].limit, 'tpm')
  })

  test('a fresh change of the key blocks nothing', async () => {
    const secret = await gateway.key('fresh', 'sandbox-chat')
    const dry = { json: HELLO, headers: { ...bearer(secret), 'x-tollgate-dry-run': '1' } }
    let isDone = false
    const changing = gateway
      .tollgate('keys', 'update', 'fresh', '--budget', '11')
      .finally(() => (isDone = true))
    const look = async (): Promise<string> => {
      const { body } = await call('/v1/key', { headers: bearer(secret) })
      assert.equal(body['blocked_by'], null)
      assert.equal((await call('/v1/chat/completions', dry)).body['passes'], true)
      return String(body['budget'])
    }
    while (!isDone) await look()
    await changing
    assert.equal(await look(), '11')
  })

  test('a key sees its own requests and no others', async () => {
    const { headers } = await chat(HELLO)
    const id = headers.get('x-request-id')
    const own = await call(`/v1/requests/${id}`, { headers: bearer() })
    assert.equal(own.body['cost'], headers.get('x-tollgate-cost'))
    assert.equal(own.body['target'], 'sandbox/sandbox-chat')
    const other = await gateway.key('other', 'sandbox-chat')
    const foreign = await call(`/v1/requests/${id}`, { headers: bearer(other) })
    assert.equal(foreign.status, 404)
    assert.match(
      foreign.body['error'].message,
      /it may still be running, or it was refused, or its record has expired$/,
    )
  })

  test('free calls are in the books with their final status', async () => {
    const free = await gateway.key('free', 'sandbox-chat', '--rpm', '3')
    const counting = { json: HELLO, headers: { 'x-api-key': free } }
    const answers = [
      await call('/v1/models', { headers: bearer(free) }),
      await call('/v1/messages/count_tokens', counting),
      await call('/v1/responses/resp_none', { headers: bearer(free) }),
    ]
    const noted = async ({ headers }: Answer): Promise<unknown[]> => {
      const path = `/v1/requests/${headers.get('x-request-id')}`
      const { body } = await call(path, { headers: bearer(free) })
      return [body['endpoint'], body['status'], body['code'], body['cost']]
    }
    assert.deepEqual(await Promise.all(answers.map(noted)), [
      ['models', 200, null, '0'],
      ['count_tokens', 200, null, '0'],
      ['responses', 404, 'response_not_found', '0'],
    ])
    const { rows } = (await gateway.tollgate('usage', '--key', 'free', '--by', 'key')) as Body
    assert.deepEqual([rows[0].requests, rows[0].failed, rows[0].refused], [3, 1, 0])
    assert.equal((await call('/v1/messages/count_tokens', counting)).status, 429)
  })

  test('a count names what the target of a call would not be sent', async () => {
    const json = { ...HELLO, top_k: 5, metadata: { user_id: 'ann' }, colour: 'red' }
    const counting = { 'x-api-key': key }
    const counted = await call('/v1/messages/count_tokens', { json, headers: counting })
    assert.equal(counted.headers.get('x-tollgate-dropped'), 'colour, top_k')
    const dry = { ...counting, 'x-tollgate-dry-run': '1' }
    const { body } = await call('/v1/messages/count_tokens', { json, headers: dry })
    assert.deepEqual(body['dropped'], ['colour', 'top_k'])
    const plain = await call('/v1/messages/count_tokens', { json: HELLO, headers: counting })
    assert.equal(plain.headers.get('x-tollgate-dropped'), null)
  })

  test('a dry run reports what would happen and does nothing', async () => {
    const dry = { ...bearer(), 'x-tollgate-dry-run': '1' }
    const before = await call('/v1/key', { headers: bearer() })
    const { status, body } = await call('/v1/chat/completions', { json: HELLO, headers: dry })
    assert.equal(status, 200)
    assert.equal(body['passes'], true)
    assert.equal(body['target'], 'sandbox/sandbox-chat')
    assert.ok(Number(body['worst_case']) > 0)
    const after = await call('/v1/key', { headers: bearer() })
    assert.equal(after.body['spent'], before.body['spent'])
    const unclear = { ...bearer(), 'x-tollgate-dry-run': 'maybe' }
    const { status: refusal } = await call('/v1/chat/completions', {
      json: HELLO,
      headers: unclear,
    })
    assert.equal(refusal, 400)
    const dear = await gateway.key('dear', 'sandbox-chat', '--budget', '0.000001')
    const refused = await call('/v1/chat/completions', {
      json: HELLO,
      headers: { ...bearer(dear), 'x-tollgate-dry-run': '1' },
    })
    assert.equal(refused.body['passes'], false)
    assert.equal(refused.body['code'], 'key_budget_exceeded')
  })

  test('a dry run of a free call does nothing either', async () => {
    const secret = await gateway.key('rehearsing', 'sandbox-chat', '--rpm', '2')
    const input = { model: 'sandbox-chat', input: 'Hello' }
    const made = await call('/v1/responses', { json: input, headers: bearer(secret) })
    const path = `/v1/responses/${made.body['id']}`
    const dry = { ...bearer(secret), 'x-api-key': secret, 'x-tollgate-dry-run': '1' }
    for (const [answer, model] of [
      [await call(path, { method: 'DELETE', headers: dry }), null],
      [await call('/v1/models', { headers: dry }), null],
      [await call('/v1/models/sandbox-chat', { headers: dry }), 'sandbox-chat'],
      [await call('/v1/messages/count_tokens', { json: HELLO, headers: dry }), 'sandbox-chat'],
    ] as const) {
      assert.deepEqual(answer.body, {
        object: 'tollgate.dry_run',
        model,
        target: null,
        dropped: [],
        worst_case: '0',
        passes: true,
        held: '0',
        output_tokens: 0,
        capped: false,
      })
    }
    for (const [asked, method, code] of [
      ['/v1/responses/resp_none', 'GET', 'response_not_found'],
      ['/v1/responses/resp_none', 'DELETE', 'response_not_found'],
      ['/v1/responses/resp_none/input_items', 'GET', 'response_not_found'],
      [`${path}/input_items?limit=0`, 'GET', 'invalid_request'],
      [`${path}?stream=true`, 'GET', 'unsupported_parameter'],
    ] as const) {
      const wrong = await call(asked, { method, headers: dry })
      assert.equal(wrong.body['error']?.code, code, `${method} ${asked}`)
    }
    assert.equal((await call(path, { headers: bearer(secret) })).body['id'], made.body['id'])
    const { body } = await call('/v1/models', { headers: dry })
    assert.deepEqual([body['passes'], body['limit']], [false, 'rpm'])
  })
})

describe('failures of the provider', () => {
  const steered = (steering: string, more: object = {}) =>
    call('/v1/chat/completions', {
      json: { ...HELLO, ...more },
      headers: { ...bearer(), 'x-tollgate-sandbox': steering },
    })

  test('each status of the provider maps to its error', async () => {
    for (const [steering, status, code] of [
      ['error=500', 502, 'provider_failed'],
      ['error=401', 502, 'provider_failed'],
      ['error=404', 502, 'provider_failed'],
      ['error=429', 429, 'provider_rate_limited'],
      ['error=529', 503, 'provider_overloaded'],
      ['error=503', 503, 'provider_overloaded'],
      ['error=413', 413, 'request_too_large'],
    ] as const) {
      const got = await steered(steering)
      assert.deepEqual([got.status, got.body['error'].code], [status, code], steering)
    }
    assert.equal((await steered('error=422')).status, 422)
    const headers = { 'x-api-key': key, 'x-tollgate-sandbox': 'error=413' }
    const large = await call('/v1/messages', { json: { ...HELLO, max_tokens: 9 }, headers })
    assert.deepEqual([large.status, large.body['error'].type], [413, 'request_too_large'])
  })

  test('a cut stream ends with an error and without [DONE]', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(), 'x-tollgate-sandbox': 'tokens=50 cut=10' },
      body: JSON.stringify({ ...HELLO, stream: true }),
    })
    const text = await response.text()
    const last = text.trimEnd().split('\n\n').at(-1) ?? ''
    assert.equal(JSON.parse(last.slice('data: '.length)).error.code, 'provider_failed')
    assert.ok(!text.includes('[DONE]'))
  })
})

describe('the log', () => {
  test('each request is one line, with its figures and without its text', async () => {
    const secretWord = 'xylophone-canary'
    const { headers } = await chat({
      ...HELLO,
      messages: [{ role: 'user', content: `Say ${secretWord}` }],
    })
    const id = headers.get('x-request-id')
    const line = await gateway.logged(id ?? '')
    assert.equal(line['event'], 'request')
    assert.equal(line['status'], 200)
    assert.equal(line['model'], 'sandbox-chat')
    assert.equal(line['target'], 'sandbox/sandbox-chat')
    assert.match(String(line['key']), /^key_/)
    assert.ok(Number(line['input_tokens']) > 0 && Number(line['output_tokens']) > 0)
    const everything = JSON.stringify(gateway.log())
    assert.ok(!everything.includes(secretWord))
    assert.ok(!everything.includes(key))
    assert.equal(gateway.log().filter((one) => one['request_id'] === id).length, 1)
  })
})

test('the metrics contain nothing that a client made up', async () => {
  const canary = 'xylophone-canary'
  const made = { ...HELLO, user: canary, metadata: { tag: canary } }
  await chat({ ...made, messages: [{ role: 'user', content: `Say ${canary}` }] })
  await chat({ ...HELLO, model: canary })
  await chat(HELLO, canary)
  await call(`/v1/${canary}`)
  await call(`/v1/models/${canary}`, { headers: bearer() })
  const scraper = await accessToken(gateway, ['usage:read'])
  const { status, text: metrics } = await scrape(gateway.url, scraper)
  assert.equal(status, 200)
  for (const secret of [canary, key, scraper]) assert.ok(!metrics.includes(secret))
})

test('a prompt quoted by a provider appears neither in the log nor in the metrics', async () => {
  const secretWord = 'zither-canary'
  const provider = createServer((message, response) => {
    void text(message).then((body) => {
      const status = Number(/status (\d+)/.exec(body)?.[1])
      response.writeHead(status, { 'content-type': 'application/json' })
      if (status === 200) response.end(`no JSON: ${body}`)
      else
        response.end(JSON.stringify({ error: { message: `bad: ${body}`, type: 'x', code: 'y' } }))
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  await using echoing = await startGateway({
    config: `
providers: { echo: { kind: openai, base_url: "http://127.0.0.1:${port}/v1" } }
models: { echo: { targets: [echo/echo], price: free, context: 9999, max_output: 99 } }
`,
  })
  try {
    const secret = await echoing.key('echo', 'echo')
    for (const status of [200, 400, 401, 422, 429, 500]) {
      const content = `${secretWord} status ${status}`
      const response = await fetch(`${echoing.url}/v1/chat/completions`, {
        method: 'POST',
        headers: bearer(secret),
        body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content }] }),
      })
      await echoing.logged(response.headers.get('x-request-id') ?? '')
    }
    assert.ok(!JSON.stringify(echoing.log()).includes(secretWord))
    const scraper = await accessToken(echoing, ['usage:read'])
    const { status, text: metrics } = await scrape(echoing.url, scraper)
    assert.equal(status, 200)
    assert.match(
      metrics,
      /tollgate_attempts_total\{target="echo\/echo",outcome="provider_failed"\}/,
    )
    assert.ok(!metrics.includes(secretWord))
  } finally {
    provider.close()
    provider.closeAllConnections()
  }
})
