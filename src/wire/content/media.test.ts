// Data URLs and http URLs: anything else is refused with its place.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { ChatFormat } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import type { FilePart } from '../../core/request.ts'
import { encodeRequest as encodeForChat } from '../chat/request-encode.ts'
import { CODECS } from '../codecs.ts'
import { encodeRequest as encodeForResponses } from '../responses/request-encode.ts'
import { decodeUrl, encodeUrl } from './media.ts'

test('URLs and data URLs survive decoding and encoding', () => {
  for (const url of ['https://x.test/a.png?b=c', 'http://x.test/', 'data:image/png;base64,AAAA']) {
    assert.equal(encodeUrl(decodeUrl(url, 'url')), url)
  }
  assert.deepEqual(decodeUrl('data:text/plain;charset=utf-8;base64,AA==', 'url'), {
    type: 'base64',
    mediaType: 'text/plain',
    data: 'AA==',
  })
})

test('anything else is refused with the path of its field', () => {
  for (const url of [
    '',
    'ftp://x.test',
    'file:///etc/passwd',
    'data:image/png,plain',
    'data:;base64,AAAA',
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:image/png;base64,AAA',
    'data:image/png;base64,AA\nAA',
    'data:image/png;base64,****',
    7,
    null,
  ]) {
    assert.throws(
      () => decodeUrl(url, 'messages[0].url'),
      (error) => error instanceof GatewayError && error.details.param === 'messages[0].url',
      String(url),
    )
  }
})

// A file's name always shows what kind of file it is.

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
    const request = CODECS[format as ChatFormat].decodeRequest({ model: 'm', ...body })
    assert.ok(request.kind === 'chat')
    assert.deepEqual(request.messages[0]?.parts, [
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
    ])
  })
}
