// Files in the account that all keys share, distinguished from what only looks like one. That each is refused, in every
// format and place, is tested with the whole gateway (test/matrix/isolation.test.ts).
import { test } from 'node:test'

import type { JsonObject } from '../core/json.ts'
import { codecOf } from './codecs.ts'

const TALK = 's3://bucket/x is where it lies'

const turn = (role: string, ...content: JsonObject[]): JsonObject => ({ role, content })

test('texts that mention such files are accepted', () => {
  codecOf('chat').readCall({
    model: 'm',
    messages: [turn('user', { type: 'text', text: TALK })],
  })
  codecOf('messages').readCall({
    model: 'm',
    max_tokens: 10,
    messages: [turn('user', { type: 'document', source: { type: 'text', data: TALK } })],
  })
})

test('public addresses are accepted, however they are spelled', () => {
  const image = { type: 'image_url', image_url: { url: 'HTTPS://a.example/x.png' } }
  codecOf('chat').readCall({ model: 'm', messages: [turn('user', image)] })
})

test('a citation in an earlier answer is not taken for a file to open', () => {
  const annotations = [{ type: 'file_citation', file_id: 'file-1', filename: 'x', index: 0 }]
  const said = { type: 'output_text', text: TALK, annotations }
  codecOf('responses').readCall({ model: 'm', input: [turn('assistant', said)] })
})
