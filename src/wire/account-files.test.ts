// Files in the account that all keys share, distinguished from what only looks like one. That each is refused, in every
// format and place, is tested with the whole gateway (test/matrix/isolation.test.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
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

function readImage(url: string): void {
  const image = { type: 'image_url', image_url: { url } }
  codecOf('chat').readCall({ model: 'm', messages: [turn('user', image)] })
}

test('public addresses and base64 are accepted, however they are spelled', () => {
  for (const url of [
    'HTTPS://a.example/x.png',
    ' http://a.example/x.png',
    'https://storage.googleapis.com/public/x.png',
    'https://a.example/generativelanguage.googleapis.com',
    'data:image/png;base64,iVBORw0K',
    '/9j/4AAQSkZJRgABAQ+/==',
    'about:blank',
    '',
  ]) {
    readImage(url)
  }
})

test('files of a server’s disk and of its account are refused, however they are spelled', () => {
  const disk = /use an http or data URL, because this one names a file on a provider's own disk$/
  const account = /use an http or data URL, because this one is read with the rights of a provider/
  for (const [url, why] of [
    ['FILE:///etc/passwd', disk],
    ['file:/etc/passwd', disk],
    // As Python reads them.
    ['fi\nle:///etc/passwd', disk],
    ['\0file:///etc/passwd', disk],
    ['g\ts://bucket/x', account],
    ['s3://bucket/x.png', account],
    // What was uploaded to Google, whoever did it.
    ['https://generativelanguage.googleapis.com/v1beta/files/abc', account],
    ['https://a@GENERATIVELANGUAGE.googleapis.com.:443/v1beta/files/abc', account],
    ['https://europe-west1-aiplatform.googleapis.com/v1/x', account],
    // A server such as SGLang opens a bare path.
    ['/srv/ann/passport.jpg', disk],
    ['../passport.png', disk],
  ] as const) {
    assert.throws(
      () => readImage(url),
      (error) =>
        error instanceof GatewayError &&
        error.code === 'unsupported_parameter' &&
        why.test(error.message),
      JSON.stringify(url),
    )
  }
})

test('a citation in an earlier answer is not taken for a file to open', () => {
  const annotations = [{ type: 'file_citation', file_id: 'file-1', filename: 'x', index: 0 }]
  const said = { type: 'output_text', text: TALK, annotations }
  codecOf('responses').readCall({ model: 'm', input: [turn('assistant', said)] })
})
