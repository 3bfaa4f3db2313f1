// When a price becomes another one, and what a reload leaves of what is known about targets: all of it for those that
// stay as they are, and nothing for those that became others.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../test/samples/caller.ts'
import { loadConfig } from './config/load.ts'
import type { Config } from './config/load.ts'
import { systemClock } from './core/clock.ts'
import { ProviderRegistry } from './provider-registry.ts'
import { openHttp } from './providers/upstream/connections.ts'

test('a price applies from its start time', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-registry-'))
  const http = openHttp({})
  context.after(async () => {
    await http.close()
    rmSync(folder, { recursive: true })
  })
  writeFileSync(
    join(folder, 'tollgate.yaml'),
    `providers: { deepseek: { kind: openai, preset: deepseek, api_key: k } }
models: { deepseek-v4-flash: { targets: [deepseek/deepseek-v4-flash] } }`,
  )
  let now = Date.parse('2026-11-17T05:59:59.999Z')
  const clock = { ...systemClock, now: () => now }
  const config = loadConfig({ env: {}, folder })
  const registry = new ProviderRegistry(config, { http, clock, log: { error: () => {} } })
  const inputPrice = () => registry.catalog.get('deepseek-v4-flash')?.price?.rates.input

  assert.equal(inputPrice(), 220_000n)
  now += 1
  assert.equal(inputPrice(), 440_000n)
})

test('a reload closes the breaker of a target whose address changed, and of no other', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-registry-'))
  const http = openHttp({})
  const configWith = (moved: string): Config => {
    const models = ['moved', 'stays'].map(
      (name) => `${name}: { targets: [${name}/m], price: free, context: 1000, max_output: 100 }`,
    )
    writeFileSync(
      join(folder, 'tollgate.yaml'),
      `providers:
  moved: { kind: openai, base_url: "${moved}", api: chat }
  stays: { kind: openai, base_url: "http://127.0.0.1:1/v1", api: chat }
models: { ${models.join(', ')} }`,
    )
    return loadConfig({ env: {}, folder })
  }
  const log = { error: () => {} }
  const registry = new ProviderRegistry(configWith('http://127.0.0.1:2/v1'), {
    http,
    clock: systemClock,
    log,
  })
  context.after(async () => {
    await http.close()
    rmSync(folder, { recursive: true })
  })

  const health = (): string[] =>
    ['moved', 'stays'].map((provider) => registry.healthOf({ provider, model: 'm' }).name)

  assert.deepEqual(health(), ['uncalled', 'uncalled'])
  for (const name of ['moved', 'stays']) {
    const model = registry.catalog.get(name)
    assert.ok(model)
    const [route] = registry.route(SAMPLE_CALLER, model, { affinity: '' }).routes
    assert.equal(route?.why, 'the only target')
    route.breaker?.begin()({ failed: 'busy', retryAfterSeconds: 300 })
  }
  assert.deepEqual(health(), ['resting', 'resting'])
  registry.replace(configWith('http://127.0.0.1:3/v1'))
  assert.deepEqual(health(), ['uncalled', 'resting'])
})
