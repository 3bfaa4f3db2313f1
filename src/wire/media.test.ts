// Data URLs and http URLs: anything else is refused with its place.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GatewayError } from '../core/errors.ts'
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
