// A configuration that changes under load, secrets and all: no request is lost, and new ones are sent with what is new.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { startGateway } from '../support/gateway.ts'
import { BEHAVIOURS } from './behaviours.ts'
import { startUpstream } from './upstream.ts'

const SECRETS = ['first', 'second', 'third'] as const

test('changing the configuration under load drops no request', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-reload-'))
  opened.defer(() => rmSync(folder, { recursive: true }))
  const upstream = opened.use(await startUpstream(BEHAVIOURS))
  const path = join(folder, 'tollgate.yaml')
  const write = (secret: string): void => writeFileSync(path, configOf(upstream.url, secret))
  write(SECRETS[0])
  const gateway = opened.use(await startGateway({ env: { TOLLGATE_CONFIG: path } }))
  const key = await gateway.key('reload', 'answers')

  const statuses: number[] = []
  const ending = new AbortController()
  const clients = Array.from({ length: 16 }, async () => {
    while (!ending.signal.aborted) statuses.push(await ask(gateway.url, key))
  })
  for (const [index, secret] of SECRETS.slice(1).entries()) {
    write(secret)
    const reloads = (): number =>
      gateway.log().filter(({ event }) => event === 'configuration_reloaded').length
    while (reloads() <= index) await pause(50)
    const sent = upstream.requests.length
    while (upstream.requests.length < sent + 100) await pause(20)
    // Those that were under way keep what they began with; they are long gone by now.
    assert.equal(upstream.requests.at(-1)?.headers.get('authorization'), `Bearer ${secret}`)
  }
  ending.abort()
  await Promise.all(clients)
  assert.deepEqual([...new Set(statuses)], [200])
  assert.equal(statuses.length, upstream.requests.length)
})

async function ask(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'answers', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.arrayBuffer()
  return response.status
}

function configOf(url: string, secret: string): string {
  const price = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  return [
    `providers: { hostile: { kind: openai, base_url: "${url}", api_key: ${secret} } }`,
    `models: { answers: { targets: [hostile/answers], ${price} } }`,
    '',
  ].join('\n')
}
