// The interface as its developers see it, served by Vite beside a running gateway: signing in works there, too.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createServer } from 'vite'
import { Browser } from '../../support/browser.ts'
import { startGateway } from '../../support/gateway.ts'

test('requests of the interface through Vite count as its own site', async () => {
  await using gateway = await startGateway()
  process.env['TOLLGATE_URL'] = gateway.url
  const cacheDir = mkdtempSync(join(tmpdir(), 'tollgate-vite-'))
  const vite = await createServer({
    root: 'web',
    cacheDir,
    logLevel: 'silent',
    optimizeDeps: { noDiscovery: true },
    server: { port: 0 },
  })
  try {
    await vite.listen()
    const [url = ''] = vite.resolvedUrls?.local ?? []
    const browser = new Browser(new URL(url).origin)
    const wrong = { email: 'nobody@example.com', password: 'wrong wrong wrong' }
    const { status, json } = await browser.post('/session', wrong)
    assert.deepEqual([status, json.error.code], [401, 'wrong_credentials'])
  } finally {
    await vite.close()
    rmSync(cacheDir, { recursive: true, force: true })
  }
})
