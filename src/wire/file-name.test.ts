// A file's name always shows what kind of file it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import type { FilePart } from '../core/request.ts'
import type { ChatFormat } from '../core/endpoints.ts'
import type { JsonObject } from '../core/json.ts'
import { codecOf } from './codecs.ts'
import { encodeRequest as encodeForChat } from './chat/request-encode.ts'
import { encodeRequest as encodeForResponses } from './responses/request-encode.ts'

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const CASES: readonly (readonly [string, string | undefined, string])[] = [
  ['application/pdf', 'report.pdf', 'report.pdf'],
  ['application/pdf', 'REPORT.PDF', 'REPORT.PDF'],
  ['application/pdf', 'Annual report, v1.2', 'Annual report, v1.2.pdf'],
  ['application/pdf', undefined, 'document.pdf'],
  [WORD, undefined, 'document.docx'],
  ['text/plain', 'main.py', 'main.py'],
  ['text/plain', 'notes', 'notes.txt'],
  ['application/zip', 'a.zip', 'a.zip'],
  ['application/zip', undefined, 'document'],
]

for (const [mediaType, name, told] of CASES) {
  test(`${mediaType} ${name ?? 'without a name'} is sent as ${told}`, () => {
    const source = { type: 'base64', mediaType, data: 'AAAA' } as const
    const file: FilePart = { type: 'file', source, ...(name !== undefined && { name }) }
    const request = {
      ...SAMPLE_CONVERSATION,
      messages: [{ role: 'user' as const, parts: [file] }],
    }
    for (const encode of [encodeForChat, encodeForResponses]) {
      assert.match(JSON.stringify(encode(request)), new RegExp(`"filename":"${told}"`))
    }
  })
}

const DATA = 'data:application/pdf;base64,AAAA'
const says = (...content: JsonObject[]): JsonObject[] => [{ role: 'user', content }]
const EMPTY: Record<ChatFormat, JsonObject> = {
  chat: { messages: says({ type: 'file', file: { filename: '', file_data: DATA } }) },
  responses: { input: says({ type: 'input_file', filename: '', file_data: DATA }) },
  messages: {
    messages: says({
      type: 'document',
      title: '',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    }),
  },
}

for (const [format, body] of Object.entries(EMPTY)) {
  test(`${format}: an empty name counts as no name`, () => {
    const request = codecOf(format as ChatFormat).decodeRequest({ model: 'm', ...body })
    assert.ok(request.kind === 'chat')
    assert.deepEqual(request.messages[0]?.parts, [
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
    ])
  })
}
