// Bad input, for every endpoint and upstream format: a 4xx in the family's envelope that names the field, never a 5xx,
// and no upstream call where the gateway has to understand the request.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { HOSTILE, NO_REQUEST, ORDERLY } from './hostile-bodies.ts'
import type { Body, Post, Raw, RawAnswer } from './raw.ts'
import { POSTS, rawCalls } from './raw.ts'

const ENDPOINTS = Object.keys(POSTS) as Post[]
const CHATS = {
  chat: 'sandbox-chat',
  responses: 'sandbox-chat@responses',
  messages: 'sandbox-chat@messages',
}
const EMBEDDING = 'sandbox-embedding'

let gateway: TestGateway
let raw: Raw

before(async () => {
  gateway = await startGateway()
  const models = [...Object.values(CHATS), EMBEDDING].join(',')
  raw = rawCalls(gateway, await gateway.key('app', models, '--budget', 'none'))
})
after(() => gateway.stop())

for (const endpoint of ENDPOINTS)
  describe(POSTS[endpoint], () => {
    for (const [what, body] of Object.entries(NO_REQUEST))
      test(`${endpoint}: ${what}`, async () => {
        refused(endpoint, await raw.post(endpoint, body))
      })

    for (const [upstream, model] of modelsOf(endpoint))
      for (const { what, fields, param, always } of HOSTILE[endpoint])
        test(`${endpoint} → ${upstream}: ${what}`, async () => {
          const answer = await raw.post(endpoint, { model, ...ORDERLY[endpoint], ...fields })
          const isOurs = always === true || upstream !== formatOf(endpoint)
          if (!isOurs && answer.status === 200) return
          refused(endpoint, answer)
          const named = String((answer.body['error'] as Body)['param'])
          assert.ok(named.startsWith(param), `${named}: ${answer.body['error'].message}`)
          const line = await gateway.logged(answer.requestId)
          if (isOurs) assert.equal(line['target'], undefined)
        })
  })

function modelsOf(endpoint: Post): readonly (readonly [string, string])[] {
  return endpoint === 'embeddings' ? [['embeddings', EMBEDDING]] : Object.entries(CHATS)
}

function formatOf(endpoint: Post): string {
  if (endpoint === 'count_tokens') return 'messages'
  return endpoint === 'input_tokens' ? 'responses' : endpoint
}

function refused(endpoint: Post, { status, body, requestId }: RawAnswer): void {
  const text = JSON.stringify(body)
  assert.ok(status >= 400 && status < 500, `${status}: ${text}`)
  const { type, message, code } = body['error'] as Body
  assert.equal(typeof type, 'string', text)
  assert.equal(typeof code, 'string', text)
  assert.ok(typeof message === 'string' && message !== '', text)
  const isMessages = formatOf(endpoint) === 'messages'
  assert.deepEqual(
    [body['type'], body['request_id']],
    isMessages ? ['error', requestId] : [undefined, undefined],
  )
}
