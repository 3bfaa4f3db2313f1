// The playground's contract, on any database: the answer is told as it comes, what it costs is in the books, and leaving
// ends it. Run by test/contract/admin.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PERMISSIONS } from '../../src/admin/contract/permissions.ts'
import { API_PREFIX } from '../../src/admin/contract/route.ts'
import { eventsIn, openTestAdmin, type TestAdmin } from '../support/admin.ts'
import type { FreshDatabase } from '../support/store.ts'
import { until } from '../support/until.ts'

export function adminPlaygroundContract(fresh: FreshDatabase): void {
  let admin: TestAdmin
  before(async () => {
    admin = await openTestAdmin(fresh)
  })
  after(() => admin[Symbol.asyncDispose]())

  const newKey = async (name: string, more: object = {}): Promise<string> => {
    const body = { name, models: ['sandbox-chat'], budget: '5', ...more }
    return String((await admin.call('POST', '/keys', { body })).body['id'])
  }
  const bodyOf = (key: string, content: string) => ({
    ...{ key, model: 'sandbox-chat', max_tokens: 1_000 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ],
  })
  const played = async (key: string, content: string) => {
    const answer = await admin.call('POST', '/playground', { body: bodyOf(key, content) })
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
    return eventsIn(answer.text)
  }

  describe('the playground', () => {
    test('tells the answer as it comes, then what it took', async () => {
      const key = await newKey('streams')
      const [began, ...events] = await played(key, 'Say one two three four five six seven')
      assert.equal(began?.['type'], 'began')
      const result = events.pop()
      assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['progress']))
      assert.ok(events.length > 1, 'it came at once')
      assert.equal(events.map(({ text }) => text).join(''), result?.['text'])
      const costs = events.map(({ cost }) => Number(cost))
      assert.deepEqual(
        costs,
        costs.toSorted((one, other) => one - other),
      )
      const { body: row } = await admin.call('GET', `/requests/${String(began?.['request_id'])}`)
      for (const figure of ['cost', 'input_tokens', 'output_tokens', 'first_token_ms', 'target'])
        assert.equal(row[figure], result?.[figure], figure)
      assert.ok(Number(result?.['first_token_ms']) <= Number(result?.['latency_ms']))
    })

    test('uses whichever endpoint the key may call', async () => {
      for (const permission of ['chat', 'messages', 'responses']) {
        const key = await newKey(`plays-${permission}`, { permissions: [permission] })
        const result = (await played(key, 'Answer with the word "ready".')).at(-1)
        assert.deepEqual([result?.['passes'], result?.['text']], [true, 'ready'], permission)
      }
    })

    test('says that the provider failed midway, after what had come by then', async () => {
      const key = await newKey('fails')
      const events = await played(key, '[[sandbox tokens=40 cut=10 error=529]]')
      const result = events.at(-1)
      assert.deepEqual([result?.['passes'], result?.['text']], [false, null])
      assert.ok(events.some(({ type, text }) => type === 'progress' && text !== ''))
      assert.notEqual(result?.['cost'], '0')
    })

    test('a key that may not call is refused by a result, and an unknown one by an error', async () => {
      const key = await newKey('broke', { budget: '0' })
      const result = (await played(key, 'Say hello')).at(-1)
      assert.deepEqual([result?.['passes'], result?.['status']], [false, 402])
      const unknown = bodyOf('key_00000000000000000000000000', 'Say hello')
      const answer = await admin.call('POST', '/playground', { body: unknown })
      assert.equal(answer.status, 404)
    })

    test('whoever leaves ends the call, which is charged for what came', async () => {
      const key = await newKey('left')
      const leaving = new AbortController()
      const response = await fetch(`${admin.url}${API_PREFIX}/playground`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-test-permissions': PERMISSIONS.join(','),
          'x-test-via': 'session',
        },
        body: JSON.stringify(bodyOf(key, '[[sandbox tokens=900 gap=100ms]]')),
        signal: leaving.signal,
      })
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('"progress"')) text += (await reader?.read())?.value ?? ''
      leaving.abort()
      await reader?.read().catch(() => {})
      const row = await until(async () => {
        const { body } = await admin.call('GET', `/keys/${key}/requests`)
        return (body['requests'] as readonly Record<string, unknown>[] | undefined)?.[0]
      })
      assert.deepEqual([row['status'], row['code'], row['state']], [499, 'client_gone', 'settled'])
      assert.ok(Number(row['output_tokens']) > 0 && Number(row['output_tokens']) < 900)
      const { body } = await admin.call('GET', `/keys/${key}/limits`)
      assert.deepEqual([body['key']?.['held'], body['key']?.['spent']], ['0', row['cost']])
    })
  })
}
