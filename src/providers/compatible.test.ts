// Servers that follow OpenAI at a distance are sent the limit and the roles under names that all of them know.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { inOlderWords } from './compatible.ts'

const older = async (body: object): Promise<unknown> =>
  JSON.parse((await inOlderWords(Buffer.from(JSON.stringify(body)))).toString())

test('the output limit is sent under the name that all servers obey', async () => {
  for (const [given, told] of [
    [{ max_completion_tokens: 9 }, { max_tokens: 9 }],
    [{ max_tokens: 7, max_completion_tokens: 9 }, { max_tokens: 9 }],
    // null counts as absent: it must not erase the limit that the hold pays for.
    [{ max_tokens: 7, max_completion_tokens: null }, { max_tokens: 7 }],
    [{ max_completion_tokens: null, max_tokens: 7 }, { max_tokens: 7 }],
    [{ max_tokens: null, max_completion_tokens: 9 }, { max_tokens: 9 }],
  ]) {
    assert.deepEqual(await older({ model: 'm', ...given }), { model: 'm', ...told })
  }
})

test('a limit whose name is spelled with escapes is renamed too', async () => {
  const body = Buffer.from('{"model":"m","max_completion_token\\u0073":9}')
  const told = (await inOlderWords(body)).toString()
  assert.equal(told, '{"model":"m","max_tokens":9}')
})

test('instructions get the role that all servers know', async () => {
  assert.deepEqual(await older({ messages: [{ role: 'developer', content: 'Be brief.' }] }), {
    messages: [{ role: 'system', content: 'Be brief.' }],
  })
})

test('integers beside a role that changes stay as they were written', async () => {
  const body = Buffer.from('{"messages":[{"role":"developer","row":9223372036854775807}]}')
  const told = (await inOlderWords(body)).toString()
  assert.equal(told, '{"messages":[{"role":"system","row":9223372036854775807}]}')
})

test('everything else is sent unchanged', async () => {
  const plain = Buffer.from('{ "model": "m", "messages": [{"role":"user","content":"x"}] }')
  assert.equal(await inOlderWords(plain), plain)
  // A number that would not survive being parsed and written again.
  const messages = '"messages": [{"role":"user","content":"x","weight":1.0}]'
  const limited = Buffer.from(`{"max_completion_tokens":9, ${messages}}`)
  const told = (await inOlderWords(limited)).toString()
  assert.ok(told.includes(messages) && told.includes('"max_tokens":9'), told)
})
