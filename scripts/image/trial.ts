// Runs the image as strictly as it can be run, with podman: a root that cannot be written, no capability, no new
// privileges, no /tmp; makes a key, calls a model, and restarts it. Yields what it has seen to hold.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { installWithApt } from '../../test/support/apt.ts'
import { freePort } from '../../test/support/process.ts'
import { until } from '../../test/support/until.ts'

const NAME = 'tollgate-trial'

export async function* tryImage(file: string): AsyncGenerator<string> {
  for (const program of ['podman', 'runc'])
    if (spawnSync(program, ['--version']).error !== undefined) installWithApt(program)
  const work = mkdtempSync(resolve('.cache', 'image', 'trying-'))
  const container = new Container(work)
  try {
    yield* trial(container, file)
  } finally {
    container.podman('rm', '--all', '--force', '--time=0', '--volumes')
    container.podman('rmi', '--all', '--force')
    rmSync(work, { recursive: true, force: true })
  }
}

async function* trial(container: Container, file: string): AsyncGenerator<string> {
  const { podman } = container
  const image = podman('load', '--quiet', '--input', file)
    .replace(/^Loaded image: /, '')
    .trim()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  podman(
    ...['run', '--detach', `--name=${NAME}`, '--network=host', `--env=TOLLGATE_PORT=${port}`],
    ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=all'],
    ...['--security-opt=no-new-privileges', '--volume=tollgate:/var/lib/tollgate/data'],
    // What podman would ask for by itself is more than a machine may give.
    ...['--ulimit=nofile=4096:4096', '--ulimit=nproc=1024:1024', image],
  )
  await container.healthy()
  yield 'it starts with a read-only root, without capabilities, and its health check passes'

  const inside = JSON.parse(container.node(LOOK)) as Record<string, string>
  assert.deepEqual(inside, { uid: '65532', root: 'EROFS', tmp: 'EROFS', data: 'written' })
  assert.notEqual(container.fails('sh', '-c', 'true'), 0)
  yield 'as user 65532 it can write its volume and nothing else, and there is no shell'

  const words = 'keys create --name trial --models sandbox-chat --budget 1 --secret-only'
  const key = podman('exec', NAME, 'tollgate', ...words.split(' ')).trim()
  assert.equal(await call(url, key), 200)
  assert.match(JSON.parse(container.node(VERSION)) as string, /^v26\./)
  yield 'a key made inside it answers a call'

  podman('restart', NAME)
  await container.healthy()
  assert.equal(await call(url, key), 200)
  const usage = podman('exec', NAME, 'tollgate', 'usage', '--by', 'key', '--json')
  assert.equal((JSON.parse(usage) as { total: { requests: number } }).total.requests, 2)
  yield 'after a restart the key still works, and both calls are in the books'

  podman('stop', '--time=30', NAME)
  assert.equal(podman('inspect', '--format={{.State.ExitCode}}', NAME).trim(), '0')
  yield 'it stops by itself when asked to, with exit code 0'
}

const VERSION = 'console.log(JSON.stringify(process.version))'
const LOOK = `
const fs = require('node:fs')
const write = (file) => { try { fs.writeFileSync(file, ''); return 'written' } catch (error) { return error.code } }
const seen = { root: write('/opt/tollgate/x'), tmp: write('/tmp/x'), data: write('/var/lib/tollgate/data/x') }
console.log(JSON.stringify({ uid: String(process.getuid()), ...seen }))`

class Container {
  readonly #options: readonly string[]

  constructor(work: string) {
    const storage = [`--root=${join(work, 'root')}`, `--runroot=${join(work, 'run')}`]
    // Without systemd there is nobody who would run health checks by the clock, and podman says so each time.
    const rest = ['--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--log-level=fatal']
    this.#options = [...storage, '--runtime=runc', ...rest]
  }

  podman = (...args: string[]): string =>
    execFileSync('podman', [...this.#options, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  node(program: string): string {
    return this.podman('exec', NAME, 'node', '--eval', program)
  }

  fails(...words: string[]): number | null {
    return spawnSync('podman', [...this.#options, 'exec', NAME, ...words]).status
  }

  async healthy(): Promise<void> {
    const check = [...this.#options, 'healthcheck', 'run', NAME]
    await until(() => spawnSync('podman', check).status === 0)
  }
}

async function call(url: string, key: string): Promise<number> {
  const body = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.text()
  return answer.status
}
