// What is counted of a body: everything the model reads as words, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { textsOf } from './texts.ts'

test('chat, responses and messages bodies', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  assert.deepEqual(
    textsOf({
      model: 'm',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
    }),
    ['be brief', 'look', '[{"type":"function","function":{"name":"f"}}]'],
  )
  assert.deepEqual(
    textsOf({
      model: 'm',
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Bonn' } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' }],
        },
      ],
    }),
    ['be brief', 'f', '{"city":"Bonn"}', 'rain'],
  )
  assert.deepEqual(textsOf({ model: 'm', instructions: 'be brief', input: 'hello' }), [
    'be brief',
    'hello',
  ])
})
