// The packed package, installed into an empty folder under an empty home by the machine's own Node: the gateway starts,
// a key is created beside it, and the key works.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { freePort, run, start } from '../../support/process.ts'
import type { Ended } from '../../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
const app = join(folder, 'app')
// npm puts the checkout's own programs on the path; a user's folder does not have them.
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((each) => !each.includes('node_modules'))
const env = {
  PATH: path.join(delimiter),
  HOME: join(folder, 'home'),
  TOLLGATE_DATABASE: `sqlite:${join(folder, 'data', 't.db')}`,
}

before(async () => {
  for (const name of ['app', 'home', 'data']) mkdirSync(join(folder, name))
  writeFileSync(join(app, 'package.json'), '{"private":true}')
  await succeed(run('npm', ['run', 'pack', '--', '--pack-destination', folder], { env }))
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  await succeed(run('npm', ['install', join(folder, tarball)], { cwd: app, env }))
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the packed package', () => {
  test('contains no sources, tests or build tools', () => {
    const installed = readdirSync(join(app, 'node_modules', 'tollgate'))
    assert.deepEqual(
      installed.filter((name) => /^(src|test|scripts|node_modules)$/.test(name)),
      [],
    )
    assert.deepEqual(
      readdirSync(join(app, 'node_modules')).filter((name) => /vite|oxlint|react/.test(name)),
      [],
    )
  })

  test('serves, and a key created beside it works', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await using gateway = start('npx', ['tollgate', 'serve'], {
      cwd: app,
      env: { ...env, TOLLGATE_PORT: String(port) },
    })
    await gateway.printed(new RegExp(`127\\.0\\.0\\.1:${port}`))
    const create = 'tollgate keys create --name demo --models sandbox-chat --budget 1 --json'
    const created = await succeed(run('npx', create.split(' '), { cwd: app, env }))
    const { secret } = JSON.parse(created.stdout)
    assert.match(secret, /^tg_live_/)

    const models = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    const { data } = (await models.json()) as { data: { id: string }[] }
    assert.deepEqual(
      data.map(({ id }) => id),
      ['sandbox-chat'],
    )

    const page = await fetch(url)
    assert.match(await page.text(), /<title>Tollgate<\/title>/)
    await gateway.stop('SIGTERM')
  })

  test('reports a wrong option in one line, with exit code 2', async () => {
    const ended = await run('npx', ['tollgate', 'models', '--nonsense'], { cwd: app, env })
    assert.deepEqual([ended.code, ended.stdout], [2, ''])
    assert.match(ended.stderr, /^tollgate: [^\n]+--nonsense[^\n]*\n$/)
  })
})

async function succeed(running: Promise<Ended>): Promise<Ended> {
  const ended = await running
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}
