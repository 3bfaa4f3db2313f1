// The input of a stored response page by page: every item once, in its long form, with an id.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayError } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { pageOfItems } from './stored-responses.ts'

const input: Json[] = Array.from({ length: 45 }, (_, index) => ({
  role: 'user',
  content: `message ${index}`,
}))

type Page = {
  data: JsonObject[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}
const page = (query: string, items = input): Page =>
  pageOfItems({ id: 'resp_1', input: items }, new URLSearchParams(query)) as unknown as Page

const textOf = (item: JsonObject): string => (item['content'] as [{ text: string }])[0].text

describe('input items', () => {
  test('are listed newest first, twenty at a time', () => {
    const first = page('')
    assert.equal(first.data.length, 20)
    assert.equal(textOf(first.data[0] ?? {}), 'message 44')
    assert.equal(first.first_id, first.data[0]?.['id'])
    assert.equal(first.last_id, first.data[19]?.['id'])
    assert.equal(first.has_more, true)
  })

  test('appear once across all pages, in either order', () => {
    for (const order of ['asc', 'desc']) {
      const texts: string[] = []
      let after = ''
      for (;;) {
        const next = page(`order=${order}&limit=10${after}`)
        texts.push(...next.data.map(textOf))
        if (!next.has_more) break
        after = `&after=${next.last_id}`
      }
      const expected = input.map((_, index) => `message ${index}`)
      assert.deepEqual(texts, order === 'asc' ? expected : expected.toReversed())
    }
  })

  test('have ids and their long form', () => {
    const items: Json[] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'yes' },
      {
        type: 'message',
        id: 'msg_own',
        role: 'user',
        content: [{ type: 'input_text', text: 'x' }],
      },
      { type: 'function_call_output', call_id: 'c', output: '1' },
      { type: 'something_new' },
    ]
    const { data } = page('order=asc', items)
    assert.deepEqual(
      data.map(({ id, ...rest }) => ({ prefix: String(id).split('_')[0], ...rest })),
      [
        {
          prefix: 'msg',
          type: 'message',
          status: 'completed',
          role: 'user',
          content: [{ type: 'input_text', text: 'hi' }],
        },
        {
          prefix: 'msg',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'yes', annotations: [], logprobs: [] }],
        },
        {
          prefix: 'msg',
          type: 'message',
          status: 'completed',
          role: 'user',
          content: [{ type: 'input_text', text: 'x' }],
        },
        { prefix: 'fco', type: 'function_call_output', call_id: 'c', output: '1' },
        { prefix: 'item', type: 'something_new' },
      ],
    )
    assert.equal(data[2]?.['id'], 'msg_own')
    assert.equal(new Set(data.map((item) => item['id'])).size, data.length)
    assert.deepEqual(page('order=asc', items).data, data, 'the same ids every time')
  })

  test('are an empty list for an empty input', () => {
    assert.deepEqual(page('', []), {
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    })
  })

  test('have unique ids even if a provider gives all of them the same', () => {
    const alike: Json[] = ['a', 'b', 'c'].map((content) => ({ id: 'msg_0', role: 'user', content }))
    const listed = page('order=asc', alike).data
    assert.equal(new Set(listed.map(({ id }) => id)).size, 3)
    assert.equal(listed[0]?.['id'], 'msg_0')
    const [last] = page(`order=asc&limit=1&after=${String(listed[1]?.['id'])}`, alike).data
    assert.equal(textOf(last ?? {}), 'c')
    assert.deepEqual(page('order=desc', alike).data, listed.toReversed())
  })

  for (const [param, query] of [
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['limit', 'limit=many'],
    ['order', 'order=random'],
    ['after', 'after=msg_unknown'],
  ] as const) {
    test(`${query} is a 400`, () => {
      assert.throws(
        () => page(query),
        (error) =>
          error instanceof GatewayError && error.status === 400 && error.details.param === param,
      )
    })
  }
})
