// Everything a model reads is there to be counted, wherever in the request it stands.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readableOf } from './count-tokens.ts'
import { decodeRequest } from './messages/request-decode.ts'

test('texts, tools, schemas, images and files of a messages request', () => {
  const body = {
    model: 'm',
    system: [{ type: 'text', text: 'system' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'user' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
          },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          { type: 'document', source: { type: 'text', data: 'file' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'thought', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'result' }],
      },
    ],
    tools: [{ name: 'f', description: 'tool', input_schema: { type: 'object' } }],
    output_config: { format: { type: 'json_schema', schema: { type: 'array' } } },
  }
  assert.deepEqual(readableOf(decodeRequest(body)), {
    texts: [
      'f',
      'tool',
      '{"type":"object"}',
      'system',
      'user',
      'file',
      'thought',
      'f',
      '{"a":1}',
      'result',
      '{"type":"array"}',
    ],
    images: 1,
    fileBytes: 4,
    remoteFiles: 1,
  })
})
