// What a file is called: always something that tells its kind.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SAMPLE_CONVERSATION } from '../core/sample-conversation.ts'
import type { FilePart } from '../core/request.ts'
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
  test(`${mediaType} ${name ?? 'without a name'} is ${told}`, () => {
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
