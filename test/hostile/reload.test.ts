// The configuration changes under load, including secrets and targets: no request is lost, and new ones use the new
// configuration.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { BEHAVIOURS } from './behaviours.ts'
import type { HostileUpstream } from './upstream.ts'
import { startUpstream } from './upstream.ts'

/** Each configuration has its own secret and its own target for the model. */
const VERSIONS = ['first', 'second', 'third'] as const

test('changing the configuration under load drops no request', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-reload-'))
  opened.defer(() => rmSync(folder, { recursive: true }))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const upstream = opened.use(
    await startUpstream({
      ...Object.fromEntries(VERSIONS.map((name) => [name, BEHAVIOURS.answers])),
      'held-up': async (socket, request) => {
        await released
        return BEHAVIOURS.answers(socket, request)
      },
    }),
  )
  const path = join(folder, 'tollgate.yaml')
  const write = (version: string): void => writeFileSync(path, configOf(upstream.url, version))
  write(VERSIONS[0])
  const gateway = opened.use(await startGateway({ env: { TOLLGATE_CONFIG: path } }))
  const key = await gateway.key('reload', 'answers,held-up')
  const told = (event: string): number =>
    gateway.log().filter((line) => line['event'] === event).length

  const early = ask(gateway.url, key, 'held-up')
  await until(() => upstream.asked('held-up') > 0)
  const statuses: number[] = []
  const ending = new AbortController()
  const clients = Array.from({ length: 16 }, async () => {
    while (!ending.signal.aborted) statuses.push(await ask(gateway.url, key, 'answers'))
  })
  for (const [index, version] of VERSIONS.slice(1).entries()) {
    write(version)
    await until(() => told('configuration_reloaded') > index)
    await served(upstream, 100)
    // Running requests keep the configuration they began with; those are long gone by now.
    const { headers, body } = upstream.requests.at(-1) ?? assert.fail()
    assert.deepEqual([headers.get('authorization'), body['model']], [`Bearer ${version}`, version])
  }
  writeFileSync(path, 'models: { answers: { targets: [nobody/answers] } }')
  await until(() => told('configuration_refused') > 0)
  await served(upstream, 100)
  ending.abort()
  await Promise.all(clients)
  assert.deepEqual([...new Set(statuses)], [200])
  assert.equal(statuses.length, upstream.requests.length - 1)
  // The first configuration sent it; the model no longer exists.
  release()
  assert.equal(await early, 200)
  assert.equal(await ask(gateway.url, key, 'held-up'), 403)
})

async function served({ requests }: HostileUpstream, more: number): Promise<void> {
  const sent = requests.length
  await until(() => requests.length >= sent + more)
}

async function ask(url: string, key: string, model: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.arrayBuffer()
  return response.status
}

function configOf(url: string, version: string): string {
  const known = 'price: { input: 1, output: 2 }, context: 100000, max_output: 1000'
  return [
    `providers: { hostile: { kind: openai, base_url: "${url}", api_key: ${version} } }`,
    'models:',
    `  answers: { targets: [hostile/${version}], ${known} }`,
    ...(version === 'first' ? [`  held-up: { targets: [hostile/held-up], ${known} }`] : []),
    '',
  ].join('\n')
}
