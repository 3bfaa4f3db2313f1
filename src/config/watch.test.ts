import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { loadConfig } from './load.ts'
import type { Config } from './load.ts'
import { watchConfig } from './watch.ts'

test('a change of the file or of a secret is taken over, a wrong one is reported', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-watch-'))
  const path = join(folder, 'tollgate.yaml')
  const write = (text: string): void => {
    // Replaced as editors and vaults do it: another file under the same name.
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'one')
  const provider = `providers: { a: { kind: anthropic, api_key: "file:${secret}" } }`
  write(provider)
  const source = { env: {}, folder }
  const waiting: ((seen: Config | Error) => void)[] = []
  const next = () => new Promise<Config | Error>((resolve) => waiting.push(resolve))
  const see = (seen: unknown): void => waiting.shift()?.(seen as Config | Error)
  // A timer of its own keeps the process alive: watching must not.
  const alive = setInterval(() => {}, 1_000)
  const stop = watchConfig({ source, config: loadConfig(source), onChange: see, onError: see })
  context.after(() => {
    stop()
    clearInterval(alive)
    rmSync(folder, { recursive: true })
  })

  let seen = next()
  write(`${provider}\nserver: { port: 4321 }`)
  assert.equal(((await seen) as Config).server.port, 4321)

  seen = next()
  write('server: { port: nonsense }')
  assert.match(((await seen) as Error).message, /server\.port must be a whole number/)

  seen = next()
  writeFileSync(secret, 'two, longer')
  write(provider)
  const [changed] = ((await seen) as Config).providers
  assert.deepEqual(changed?.kind === 'anthropic' && changed.apiKeys, ['two, longer'])

  seen = next()
  writeFileSync(secret, 'three')
  const [rotated] = ((await seen) as Config).providers
  assert.deepEqual(rotated?.kind === 'anthropic' && rotated.apiKeys, ['three'])
})
