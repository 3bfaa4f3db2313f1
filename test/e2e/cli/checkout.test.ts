// A checkout that was started before fetches, installs and builds nothing again, even without a network.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run, start } from '../../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-checkout-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a second start prepares nothing', async () => {
  await serveOnce({})
  const page = statSync('web/dist/index.html')
  const said = await serveOnce({ TOLLGATE_OFFLINE: '1' })
  assert.doesNotMatch(said, /^tollgate: /m)
  assert.equal(statSync('web/dist/index.html').mtimeMs, page.mtimeMs)
})

test('an interface built by one Node version serves every other', async () => {
  await serveOnce({})
  const version = `Object.defineProperty(process, 'version', { value: 'v99.0.0' })`
  const program = `import { ensureWeb } from './scripts/checkout.mjs'; await ensureWeb()`
  const flags = ['--import', `data:text/javascript,${version}`, '--input-type=module', '--eval']
  const ended = await run(process.execPath, [...flags, program])
  assert.deepEqual([ended.code, ended.stderr], [0, ''])
})

async function serveOnce(more: NodeJS.ProcessEnv): Promise<string> {
  const env = { ...process.env, ...more, TOLLGATE_DATABASE: `sqlite:${join(folder, 't.db')}` }
  await using gateway = start('node', ['bin/tollgate.mjs', 'serve', '--port', '0'], { env })
  await gateway.printed(/"event":"listening"/)
  const ended = await gateway.stop()
  assert.equal(ended.code, 0)
  return ended.stderr
}
