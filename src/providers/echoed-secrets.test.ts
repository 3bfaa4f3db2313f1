// No piece of the request's key comes back in an error, however the error is cut into chunks; everything else does.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withoutSecrets } from './echoed-secrets.ts'

const KEY = 'house-key.0123456789'
const BASE64 = Buffer.from(KEY).toString('base64')

async function cleaned(
  text: string,
  headers: Readonly<Record<string, string>>,
  chunkBytes = Infinity,
): Promise<string> {
  const bytes = Buffer.from(text)
  async function* body() {
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      yield bytes.subarray(start, start + chunkBytes)
    }
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of withoutSecrets(body(), headers)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

for (const headers of [
  { authorization: `Bearer ${KEY}` },
  { 'x-api-key': KEY },
  { 'api-key': KEY },
  { 'x-goog-api-key': KEY },
  { 'X-Amz-Security-Token': KEY },
])
  test(`a key sent as ${Object.keys(headers)[0]} does not come back`, async () => {
    const told = await cleaned(`Bearer ${KEY} or ${BASE64}: ${KEY}, für €`, headers)
    assert.doesNotMatch(told, new RegExp(`${KEY}|${BASE64.replace(/=+$/, '')}`))
    assert.match(told, /^Bearer \[redacted\] or \[redacted\]=*: \[redacted\], für €$/)
  })

for (const chunkBytes of [1, 7, 19, 20, 21])
  test(`in chunks of ${chunkBytes} bytes`, async () => {
    const told = await cleaned(`ä ${KEY}${KEY} ö ${KEY}`, { 'x-api-key': KEY }, chunkBytes)
    assert.equal(told, 'ä [redacted][redacted] ö [redacted]')
  })

test('an error is unchanged if the request had no key, or only a short word for one', async () => {
  const text = '{"error":{"message":"none of the models: none"}}'
  assert.equal(await cleaned(text, {}), text)
  assert.equal(await cleaned(text, { authorization: 'Bearer none' }), text)
})
