// Changes of the configuration while a server runs, on real files: applied, or reported while the old one stays.
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'

import { loadConfig } from './load.ts'
import type { Config } from './load.ts'
import { watchConfig } from './watch.ts'

test('a change to the file or to a secret is applied, and a wrong one is reported', async (context) => {
  const { secret, provider, write, watch } = place(context)
  writeFileSync(secret, 'one')
  write(provider)
  const next = watch()

  let seen = next()
  write(`${provider}\nsandbox: false`)
  assert.equal(((await seen) as Config).sandbox, false)

  seen = next()
  write('server: { port: nonsense }')
  assert.match(((await seen) as Error).message, /server\.port must be a whole number/)

  seen = next()
  writeFileSync(secret, 'two, longer')
  write(provider)
  assert.deepEqual(keysOf(await seen), ['two, longer'])

  seen = next()
  writeFileSync(secret, 'three')
  assert.deepEqual(keysOf(await seen), ['three'])
})

test('settings that only apply at the start stay as they are', async (context) => {
  const { secret, provider, write, watch } = place(context)
  writeFileSync(secret, 'one')
  write(`${provider}\nserver: { port: 4321 }`)
  const next = watch()
  const seen = next()
  write(
    `${provider}\nsandbox: false\nserver: { port: 5432 }\ndatabase: sqlite:elsewhere/t.db\nledger: { beat: 1500ms }\npeople: { inactive_days: 9 }\nmetrics: { keys_max: 9 }`,
  )
  const { sandbox, server, database, dataFolder, ledger, people, metrics } = (await seen) as Config
  assert.equal(sandbox, false)
  assert.equal(server.port, 4321)
  assert.doesNotMatch(`${database} ${dataFolder}`, /elsewhere/)
  assert.notEqual(ledger.beatMs, 1_500)
  assert.deepEqual([people.inactiveDays, metrics.keysMax], [null, 500])
})

test('a change between reading and watching is not missed', async (context) => {
  const { secret, provider, write, watch } = place(context)
  writeFileSync(secret, 'one')
  write(provider)
  const next = watch({ beforehand: () => writeFileSync(secret, 'two, longer') })
  assert.deepEqual(keysOf(await next()), ['two, longer'])
})

test('a secret may appear late, and may be gone for a moment', async (context) => {
  const { secret, provider, write, watch } = place(context)
  write(provider)
  const next = watch()

  let seen = next()
  writeFileSync(secret, 'one')
  assert.deepEqual(keysOf(await seen), ['one'])

  seen = next()
  rmSync(secret)
  // A provider keeps working while its secret is being replaced.
  assert.match(((await seen) as Error).message, /which cannot be read \(ENOENT\)/)

  seen = next()
  writeFileSync(secret, 'two')
  assert.deepEqual(keysOf(await seen), ['two'])
})

test('a provider may be added before its secret exists', async (context) => {
  const { secret, provider, write, watch } = place(context)
  write('sandbox: true')
  const next = watch()

  let seen = next()
  write(`${provider}\nsandbox: false`)
  const config = (await seen) as Config
  assert.equal(config.sandbox, false)
  assert.match(config.leftOut.get('a') ?? '', /cannot be read \(ENOENT\)/)

  seen = next()
  writeFileSync(secret, 'one')
  assert.deepEqual(keysOf(await seen), ['one'])
})

test('a file that a refused configuration names is watched too', async (context) => {
  const { secret, write, watch } = place(context)
  write('')
  const next = watch()

  let seen = next()
  write(`frame: { timezone: "file:${secret}" }`)
  assert.match(((await seen) as Error).message, /frame\.timezone .* cannot be read \(ENOENT\)/)

  seen = next()
  writeFileSync(secret, 'Europe/Berlin')
  assert.equal(((await seen) as Config).frame.timezone, 'Europe/Berlin')
})

test('a file written after the start is applied, and its loss is reported, not applied', async (context) => {
  const { path, secret, provider, write, watch } = place(context)
  writeFileSync(secret, 'one')
  const next = watch()

  let seen = next()
  write(provider)
  assert.deepEqual(keysOf(await seen), ['one'])

  seen = next()
  rmSync(path)
  assert.match(((await seen) as Error).message, /tollgate\.yaml is gone: restore it/)

  seen = next()
  writeFileSync(secret, 'two, longer')
  write(provider)
  assert.deepEqual(keysOf(await seen), ['two, longer'])
})

function place(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-watch-'))
  const path = join(folder, 'tollgate.yaml')
  const secret = join(folder, 'secret')
  const source = { env: {}, folder }
  const waiting: ((seen: Config | Error) => void)[] = []
  const see = (seen: unknown): void => waiting.shift()?.(seen as Config | Error)
  // A separate timer keeps the process alive, because watching must not.
  const alive = setInterval(() => {}, 1_000)
  context.after(() => {
    clearInterval(alive)
    rmSync(folder, { recursive: true })
  })
  return {
    path,
    secret,
    provider: `providers: { a: { kind: anthropic, api_key: "file:${secret}" } }`,
    /** Replaced as editors and vaults do it: another file under the same name. */
    write: (text: string): void => {
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
    },
    /** Returns a function that waits for the next event. */
    watch: ({ beforehand = () => {} } = {}) => {
      const config = loadConfig(source)
      beforehand()
      context.after(watchConfig({ source, config, onChange: see, onError: see }))
      return () => new Promise<Config | Error>((resolve) => waiting.push(resolve))
    },
  }
}

function keysOf(seen: Config | Error): readonly string[] | undefined {
  assert.ok(!(seen instanceof Error), String(seen))
  const [provider] = seen.providers
  return provider?.kind === 'anthropic' ? provider.apiKeys : undefined
}
