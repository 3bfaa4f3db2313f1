// Stored responses on a real store: conversations are rebuilt only for their own key, and the database reveals nothing
// of them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../src/core/errors.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import {
  findResponse,
  forgetResponse,
  resolveRequest,
  type ResponsesState,
} from '../../src/exchange/responses/state.ts'
import { ResponseVault } from '../../src/exchange/responses/vault.ts'
import type { Store } from '../../src/store/database/store.ts'
import { seedFrame } from '../../src/store/frame.ts'
import { createKey } from '../../src/store/keys/lifecycle.ts'
import { openStore } from '../../src/store/open.ts'
import type { Log } from '../../src/telemetry/log.ts'
import { readJsonBody } from '../../src/wire/json/body.ts'
import { SAMPLE_FRAME } from '../samples/frame.ts'
import { freshSqlite, newKey, standingClock } from '../support/store.ts'

const clock = standingClock()
const quiet: Log = { info: () => {}, warn: () => {}, error: () => {}, flush: () => {} }
const settings = { store: true, retentionMs: 60_000, bodyBytesMax: 4096 }
let database: Awaited<ReturnType<typeof freshSqlite>>
let store: Store
let vault: ResponseVault
let state: ResponsesState
let keyId = ''
let strangerId = ''
let fullId = ''

before(async () => {
  database = await freshSqlite()
  store = await openStore(database.url, { clock })
  await seedFrame(store, SAMPLE_FRAME)
  keyId = (await createKey(store, newKey('mine'))).key.id
  strangerId = (await createKey(store, newKey('another'))).key.id
  fullId = (await createKey(store, newKey('full'))).key.id
  vault = new ResponseVault({ store, log: quiet, secret: 'a secret', keyBytesMax: () => 1e9 })
  state = { vault, clock, settings: () => settings }
})
after(async () => {
  vault[Symbol.dispose]()
  await store.close()
  await database.drop()
})

/** The state with a vault that does something else. */
function withVault(more: Partial<ResponsesState['vault']>): ResponsesState {
  const { put, get, delete: remove } = ResponseVault.prototype
  const same = { put: put.bind(vault), get: get.bind(vault), delete: remove.bind(vault) }
  return { ...state, vault: { ...same, ...more } }
}

const body = (value: JsonObject) => readJsonBody(Buffer.from(JSON.stringify(value)))
const says = (text: string): JsonObject => ({
  id: `msg_${text}`,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const user = (content: string): JsonObject => ({ type: 'message', role: 'user', content })
const response = (id: string, ...output: JsonObject[]): JsonObject => ({
  id,
  object: 'response',
  status: 'completed',
  output,
})

/** One turn as the exchange runs it: resolved, answered, remembered. */
async function turn(request: JsonObject, answer: JsonObject): Promise<Json | undefined> {
  const resolved = await resolveRequest(state, keyId, body({ model: 'm', ...request }))
  await resolved.remember?.(JSON.stringify(answer))
  return resolved.body.value['input']
}

function refused(code: string, param: string) {
  return (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.deepEqual([error.code, error.status, error.details.param], [code, 400, param])
    return true
  }
}

describe('a conversation', () => {
  test('is rebuilt from everything said before, without the old instructions', async () => {
    await turn({ input: 'one', instructions: 'Be brief.' }, response('resp_a1', says('eins')))
    await turn(
      { input: [user('two')], previous_response_id: 'resp_a1' },
      response('resp_a2', says('zwei')),
    )
    const third = await resolveRequest(
      state,
      keyId,
      body({ model: 'm', input: 'three', previous_response_id: 'resp_a2', top_p: 1 }),
    )
    assert.deepEqual(third.body.value, {
      model: 'm',
      input: [user('one'), says('eins'), user('two'), says('zwei'), user('three')],
      top_p: 1,
    })
    assert.equal(third.asked['previous_response_id'], 'resp_a2')
  })

  test('goes on without the probabilities of earlier answers, which are kept', async () => {
    const told = (logprobs: Json): JsonObject => ({
      ...says('sure'),
      content: [{ type: 'output_text', text: 'sure', annotations: [], logprobs }],
    })
    const answer = response('resp_p1', told([{ token: 'sure', logprob: 0, top_logprobs: [] }]))
    await turn({ input: 'how sure?' }, answer)
    const next = await turn(
      { input: [{ type: 'item_reference', id: 'msg_sure' }], previous_response_id: 'resp_p1' },
      response('resp_p2', says('on')),
    )
    assert.deepEqual(next, [user('how sure?'), told([]), told([])])
    assert.deepEqual((await findResponse(state, { keyId, id: 'resp_p1' }))?.response, answer)
  })

  test('may branch, and outlives the answer it began with', async () => {
    await turn({ input: 'root' }, response('resp_b1', says('R')))
    await turn({ input: 'left', previous_response_id: 'resp_b1' }, response('resp_b2', says('L')))
    await vault.delete({ keyId, id: 'resp_b1' })
    const next = await turn(
      { input: 'on', previous_response_id: 'resp_b2' },
      response('resp_b3', says('O')),
    )
    assert.deepEqual(next, [user('root'), says('R'), user('left'), says('L'), user('on')])
  })

  test('is stored from a stream as from a whole answer', async () => {
    const resolved = await resolveRequest(state, keyId, body({ model: 'm', input: 'hi' }))
    const answer = response('resp_c1', says('streamed'))
    const data = JSON.stringify({ type: 'response.completed', response: answer })
    await resolved.remember?.(`event: response.completed\ndata: ${data}\n\ndata: [DONE]\n\n`)
    const stored = await findResponse(state, { keyId, id: 'resp_c1' })
    assert.deepEqual([stored?.input, stored?.response], [[user('hi')], answer])
  })

  test('keeps its long numbers as they were written', async () => {
    const item = (row: string) => `{"type":"custom","id":"it_${row}","row":${row}}`
    const asks = (input: string, more: string) =>
      resolveRequest(
        state,
        keyId,
        readJsonBody(Buffer.from(`{"model":"m","input":[${input}]${more}}`)),
      )
    const answer = (id: string, row: string) =>
      `{"id":"${id}","status":"completed","output":[${item(row)}]}`
    const first = await asks(item('9007199254740993'), '')
    await first.remember?.(answer('resp_n1', '9223372036854775807'))
    const previous = ',"previous_response_id":"resp_n1"'
    const second = await asks(item('10000000000000001'), previous)
    const data = `{"type":"response.completed","response":${answer('resp_n2', '-9007199254740995')}}`
    await second.remember?.(`event: response.completed\ndata: ${data}\n\n`)
    const reference = '{"type":"item_reference","id":"it_-9007199254740995"}'
    const third = await asks(reference, ',"previous_response_id":"resp_n2"')
    assert.deepEqual(third.body.bytes.toString().match(/(?<="row":)-?\d+/g), [
      '9007199254740993',
      '9223372036854775807',
      '10000000000000001',
      '-9007199254740995',
      '-9007199254740995',
    ])
  })

  test('passes unchanged if it refers to nothing', async () => {
    const sent = body({ model: 'm', input: 'hi', previous_response_id: null })
    assert.equal((await resolveRequest(state, keyId, sent)).body, sent)
  })

  test('is refused when it grows too large', async () => {
    const half = 'x'.repeat(settings.bodyBytesMax / 2)
    await turn({ input: half }, response('resp_d1', says('ok')))
    const goOn = (input: string) =>
      resolveRequest(state, keyId, body({ model: 'm', input, previous_response_id: 'resp_d1' }))
    await goOn('small')
    await assert.rejects(
      goOn(half),
      (error) => error instanceof GatewayError && error.code === 'request_too_large',
    )
  })
})

describe('an item by its id', () => {
  test('stands for the item itself', async () => {
    const thought = { id: 'rs_e', type: 'reasoning', summary: [], encrypted_content: 'gAAA' }
    await turn({ input: 'one' }, response('resp_e1', thought, says('E')))
    const input = await turn(
      {
        input: [user('one'), { type: 'item_reference', id: 'rs_e' }, { id: 'msg_E' }, user('two')],
      },
      response('resp_e2', says('F')),
    )
    assert.deepEqual(input, [user('one'), thought, says('E'), user('two')])
  })

  test('names only the first thousand items of an answer; the others are stored with it', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => says(`item_${index}`))
    await turn({ input: 'all of them' }, response('resp_many', ...items))
    const stored = await findResponse(state, { keyId, id: 'resp_many' })
    assert.deepEqual(stored?.response['output'], items)
    const reference = (index: number) => ({ type: 'item_reference', id: `msg_item_${index}` })
    assert.deepEqual(await turn({ input: [reference(999)] }, response('resp_one')), [items[999]])
    await assert.rejects(turn({ input: [reference(1_000)] }, response('resp_none')))
  })

  test('stands for the latest if a provider used it for several answers', async () => {
    const alike = (text: string) => ({ ...says(text), id: 'msg_0' })
    await turn({ input: 'one' }, response('resp_again1', alike('first'), alike('second')))
    await vault.delete({ keyId, id: 'resp_again1' })
    await turn({ input: 'two' }, response('resp_again2', alike('latest')))
    const input = await turn(
      { input: [{ type: 'item_reference', id: 'msg_0' }, user('three')] },
      response('resp_again3', says('G')),
    )
    assert.deepEqual(input, [alike('latest'), user('three')])
  })

  test('is looked up once, and so is its answer, however often they are named', async () => {
    const large = { ...says('L'), id: 'msg_large', padding: 'x'.repeat(400) }
    await turn({ input: 'one' }, response('resp_l1', large, says('small')))
    let lookUps = 0
    const counting = withVault({ get: (name) => (lookUps++, vault.get(name)) })
    const refer = (...ids: string[]) =>
      resolveRequest(
        counting,
        keyId,
        body({ model: 'm', input: ids.map((id) => ({ type: 'item_reference', id })) }),
      )
    const { body: rebuilt } = await refer(...Array(5).fill('msg_large'), 'msg_small', 'msg_small')
    assert.deepEqual(rebuilt.value['input'], [
      ...Array(5).fill(large),
      says('small'),
      says('small'),
    ])
    assert.equal(lookUps, 3, 'a signpost for each item, and the answer behind them')
    // Gigabytes, if it were assembled before it is measured.
    await assert.rejects(
      refer(...Array(9_000).fill('msg_large')),
      (error) => error instanceof GatewayError && error.code === 'request_too_large',
    )
  })

  test('is unknown to another key, once deleted, and if not stored', async () => {
    await turn({ input: 'one' }, response('resp_f1', says('private')))
    await turn({ input: 'one', store: false }, response('resp_f2', says('unstored')))
    const refer = (key: string, id: string) =>
      resolveRequest(
        state,
        key,
        body({ model: 'm', input: [user('x'), { type: 'item_reference', id }] }),
      )
    await refer(keyId, 'msg_private')
    await assert.rejects(
      refer(strangerId, 'msg_private'),
      refused('invalid_request', 'input[1].id'),
    )
    await assert.rejects(refer(keyId, 'msg_unstored'), refused('invalid_request', 'input[1].id'))
    await vault.delete({ keyId, id: 'resp_f1' })
    await assert.rejects(refer(keyId, 'msg_private'), refused('invalid_request', 'input[1].id'))
  })
})

describe('a previous response', () => {
  const go = (key: string, previous_response_id: Json) =>
    resolveRequest(state, key, body({ model: 'm', input: 'x', previous_response_id }))
  const notFound = refused('previous_response_not_found', 'previous_response_id')

  test('is a 400 if it is unknown, expired, unstored or another key’s', async () => {
    await turn({ input: 'one' }, response('resp_g1', says('G')))
    await turn({ input: 'one', store: false }, response('resp_g2', says('H')))
    await assert.rejects(go(keyId, 'resp_unknown'), notFound)
    await assert.rejects(go(strangerId, 'resp_g1'), notFound)
    await assert.rejects(go(keyId, 'resp_g2'), notFound)
    await assert.rejects(go(keyId, 7), refused('invalid_request', 'previous_response_id'))
    await go(keyId, 'resp_g1')
    clock.at += settings.retentionMs + 1
    await assert.rejects(go(keyId, 'resp_g1'), notFound)
  })

  test('cannot be an entry that only points to an item', async () => {
    await turn({ input: 'one' }, response('resp_k1', says('K')))
    const signpost = `${keyId}/msg_K`
    await assert.rejects(go(keyId, signpost), notFound)
    assert.equal(await findResponse(state, { keyId, id: signpost }), undefined)
    assert.equal(await forgetResponse(state, { keyId, id: signpost }), false)
    assert.equal(await forgetResponse(state, { keyId: strangerId, id: 'resp_k1' }), false)
    assert.equal(await forgetResponse(state, { keyId, id: 'resp_k1' }), true)
  })

  test('cannot be named if storing is off', async () => {
    await turn({ input: 'one' }, response('resp_h1', says('H')))
    settings.store = false
    try {
      await assert.rejects(
        go(keyId, 'resp_h1'),
        refused('unsupported_parameter', 'previous_response_id'),
      )
      const resolved = await resolveRequest(
        state,
        keyId,
        body({ model: 'm', input: 'x', store: true }),
      )
      assert.equal(resolved.asked['store'], false)
      await resolved.remember?.(JSON.stringify(response('resp_h2', says('unstored'))))
    } finally {
      settings.store = true
    }
    assert.equal(await findResponse(state, { keyId, id: 'resp_h2' }), undefined)
  })
})

test('the oldest responses of a key make room for new ones, and the log says so', async () => {
  const lines: unknown[] = []
  const note = (...line: unknown[]) => void lines.push(line)
  const log = { info: note, warn: note, error: note, flush: () => {} }
  using small = new ResponseVault({ store, log, secret: 'a secret', keyBytesMax: () => 1_000 })
  const idOf = (n: number) => `resp_full_${n}`
  for (const n of [1, 2, 3, 4]) {
    clock.at += 1
    await small.put(fullId, new Map([[idOf(n), 'x'.repeat(271)]]), clock.at + 10)
  }
  const isThere = async (n: number) =>
    (await small.get({ keyId: fullId, id: idOf(n) })) !== undefined
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(isThere)), [false, true, true, true])
  assert.deepEqual(lines, [['responses_trimmed', { key: fullId, count: 1 }]])
})

test('a stored row opens for no other key, and the database holds no plain text', async () => {
  await turn({ input: 'a very private question' }, response('resp_i1', says('privateanswer')))
  const rows = await store.db.selectFrom('responses').selectAll().execute()
  for (const row of rows) {
    const text = Buffer.from(row.sealed).toString('latin1')
    assert.doesNotMatch(text, /private/)
  }
  await store.db
    .updateTable('responses')
    .set({ key_id: strangerId })
    .where('id', '=', 'resp_i1')
    .execute()
  assert.equal(await findResponse(state, { keyId: strangerId, id: 'resp_i1' }), undefined)
})

test('an answer that cannot be stored fails', async () => {
  const broken = withVault({ put: () => Promise.reject(new Error('disk full')) })
  const resolved = await resolveRequest(broken, keyId, body({ model: 'm', input: 'x' }))
  await assert.rejects(
    async () => resolved.remember?.(JSON.stringify(response('resp_j1'))),
    (error) => error instanceof GatewayError && error.code === 'ledger_unavailable',
  )
})
