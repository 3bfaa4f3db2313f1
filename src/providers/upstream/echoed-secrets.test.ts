// No piece of the request's key comes back, however it is written and cut into chunks; everything else does.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SecretFilter, secretsIn } from './echoed-secrets.ts'

const KEY = 'house-key.0123456789'
const BASE64 = Buffer.from(KEY).toString('base64')

function cleaned(
  text: string,
  headers: Readonly<Record<string, string>>,
  chunkBytes = Infinity,
): string {
  const bytes = Buffer.from(text)
  const filter = new SecretFilter(secretsIn(headers))
  const chunks: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    chunks.push(filter.push(bytes.subarray(start, start + chunkBytes)))
  }
  chunks.push(filter.end())
  return Buffer.concat(chunks).toString()
}

for (const headers of [
  { authorization: `Bearer ${KEY}` },
  { 'x-api-key': KEY },
  { 'api-key': KEY },
  { 'x-goog-api-key': KEY },
  { 'X-Amz-Security-Token': KEY },
])
  test(`a key sent as ${Object.keys(headers)[0]} does not come back`, () => {
    const told = cleaned(`Bearer ${KEY} or ${BASE64}: ${KEY}, für €`, headers)
    assert.doesNotMatch(told, new RegExp(`${KEY}|${BASE64.replace(/=+$/, '')}`))
    assert.match(told, /^Bearer \[redacted\] or \[redacted\]=*: \[redacted\], für €$/)
  })

for (const chunkBytes of [1, 7, 19, 20, 21])
  test(`in chunks of ${chunkBytes} bytes`, () => {
    const told = cleaned(`ä ${KEY}${KEY} ö ${KEY}`, { 'x-api-key': KEY }, chunkBytes)
    assert.equal(told, 'ä [redacted][redacted] ö [redacted]')
  })

const ODD_KEY = 'nk/+="~b-0123456789'

for (const [what, write] of [
  ['JSON', (text: string) => JSON.stringify(text).slice(1, -1)],
  [
    'JSON with escaped slashes',
    (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  ],
  ['JSON with every character escaped', (text: string) => escaped(text)],
  [
    'JSON with capitals in its escapes',
    (text: string) => escaped(text).replaceAll(/[a-f]/g, (digit) => digit.toUpperCase()),
  ],
  [
    'JSON in JSON',
    (text: string) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
  ],
  [
    'JSON in JSON with every character escaped',
    (text: string) => JSON.stringify(escaped(text)).slice(1, -1),
  ],
  ['a URL', encodeURIComponent],
  [
    'a URL in small letters',
    (text: string) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ['a URL, encoded twice', (text: string) => encodeURIComponent(encodeURIComponent(text))],
  [
    'a URL, every character encoded',
    (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  ],
] as const)
  for (const key of [KEY, ODD_KEY])
    test(`a key does not come back as written in ${what}: ${key}`, () => {
      const text = `{"param":"${write(key)}","code":"\\n${write(key)}"}`
      for (const chunkBytes of [Infinity, 1, 7]) {
        const told = cleaned(text, { 'api-key': key }, chunkBytes)
        assert.equal(told, '{"param":"[redacted]","code":"\\n[redacted]"}')
      }
    })

test('a letter that belongs to an escape is no part of a key', () => {
  const text = String.raw`{"message":"\name-0123456789 \\name-0123456789"}`
  const told = cleaned(text, { 'api-key': 'name-0123456789' })
  assert.equal(told, String.raw`{"message":"\name-0123456789 \\[redacted]"}`)
})

test('what ends a line is not kept back', () => {
  const filter = new SecretFilter(secretsIn({ 'x-api-key': KEY }))
  const event = Buffer.from('data: {"text":"house-key"}\n\n')
  assert.deepEqual(filter.push(event), event)
})

function escaped(text: string): string {
  return Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

test('an error is unchanged if the request had no key, or only a short word for one', () => {
  const text = '{"error":{"message":"none of the models: none"}}'
  assert.equal(cleaned(text, {}), text)
  assert.equal(cleaned(text, { authorization: 'Bearer none' }), text)
})
