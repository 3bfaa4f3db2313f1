// bin/tollgate.mjs with a stand-in for the command line, in its own package with an empty cache: what any Node from 20
// on must do before, around and after the real program.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isGoodRuntime } from '../../../bin/runtime.mjs'
import { run, start } from '../../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-launcher-'))
const cache = join(folder, 'cache', 'tollgate')
const launcher = join(folder, 'package', 'bin', 'tollgate.mjs')
// npm sets variables for the programs it runs; a person's shell has none of them.
const env = { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') }

const standIn = `
  const [what, ...rest] = process.argv.slice(2)
  if (what === 'say') console.log(JSON.stringify({ rest, versions: process.versions, pid: process.pid }))
  if (what === 'exit') process.exit(Number(rest[0]))
  if (what === 'die') process.kill(process.pid, rest[0])
  if (what === 'serve') {
    const clock = setInterval(() => {}, 1000)
    for (const signal of ['SIGTERM', 'SIGINT'])
      process.on(signal, () => { console.log('got ' + signal); clearInterval(clock); process.exitCode = 7 })
    console.log('pid ' + process.pid)
  }
`

before(async () => {
  cpSync('bin', join(folder, 'package', 'bin'), { recursive: true })
  mkdirSync(join(folder, 'package', 'dist'), { recursive: true })
  writeFileSync(join(folder, 'package', 'dist', 'main.js'), standIn)
  writeFileSync(
    join(folder, 'package', 'package.json'),
    JSON.stringify({ type: 'module', scripts: { start: 'node bin/tollgate.mjs serve' } }),
  )
})
after(() => rmSync(folder, { recursive: true, force: true }))

const versions = JSON.parse((await run('node', ['-p', 'JSON.stringify(process.versions)'])).stdout)
const skip =
  isGoodRuntime(versions) && `Node ${versions.node} of this machine is new enough to fetch nothing`

describe('without the runtime', { skip }, () => {
  test('TOLLGATE_OFFLINE=1 fetches nothing and says in one line what is missing', async () => {
    const ended = await run('node', [launcher, 'say'], { env: { ...env, TOLLGATE_OFFLINE: '1' } })
    assert.equal(ended.code, 1)
    assert.equal(ended.stdout, '')
    assert.match(ended.stderr, /^tollgate: .*TOLLGATE_OFFLINE=1 forbids.*\n$/)
  })

  test('a cache that cannot be written is reported', async () => {
    writeFileSync(join(folder, 'file'), '')
    rmSync(join(folder, 'package', '.cache'), { recursive: true, force: true })
    writeFileSync(join(folder, 'package', '.cache'), '')
    const ended = await run('node', [launcher, 'say'], {
      env: { ...env, XDG_CACHE_HOME: join(folder, 'file') },
    })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /^tollgate: .*make one writable.*\n$/)
    rmSync(join(folder, 'package', '.cache'))
  })

  test('an interrupted fetch leaves nothing that a later start would use', async () => {
    const cut = start('node', [launcher, 'say'], { env })
    await cut.printed(/fetching Node/)
    await cut.stop('SIGKILL')
    assert.deepEqual(
      readdirSync(cache).filter((name) => name.startsWith('node-')),
      [],
    )
  })

  test('two first starts at once both work, and leave one runtime', async () => {
    const both = await Promise.all([0, 1].map(() => run('node', [launcher, 'say'], { env })))
    for (const ended of both) {
      assert.equal(ended.code, 0, ended.stderr)
      assert.ok(isGoodRuntime(JSON.parse(ended.stdout).versions))
      assert.match(ended.stderr, /^tollgate: fetching Node .*\n$/)
    }
    assert.equal(readdirSync(cache).filter((name) => name.startsWith('node-')).length, 1)
  })
})

describe('with the runtime', () => {
  test('arguments are passed on, and nothing is added to the output', async () => {
    const ended = await run('node', [launcher, 'say', '--json', 'a b', ''], { env })
    assert.deepEqual(JSON.parse(ended.stdout).rest, ['--json', 'a b', ''])
    assert.equal(ended.stderr, '')
  })

  test('the exit code is passed back', async () => {
    assert.equal((await run('node', [launcher, 'exit', '3'], { env })).code, 3)
  })

  test('the signal it died of is passed back', async () => {
    assert.equal((await run('node', [launcher, 'die', 'SIGKILL'], { env })).signal, 'SIGKILL')
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`${signal} is passed on, and the program’s own exit code counts`, async () => {
      await using running = start('node', [launcher, 'serve'], { env })
      await running.printed(/pid \d+/)
      const ended = await running.stop(signal)
      assert.match(ended.stdout, new RegExp(`got ${signal}`))
      assert.equal(ended.code, 7)
    })

  // Output ends only when the last process that holds the pipe is gone, so stop() waits for all of them.
  test('kill -9 of the launcher leaves nothing running', async () => {
    await using running = start('node', [launcher, 'serve'], { env })
    await running.printed(/pid \d+/)
    await running.stop('SIGKILL')
  })

  test('a signal to npm reaches what npm started', async () => {
    await using running = start('npm', ['start'], { env, cwd: join(folder, 'package') })
    await running.printed(/pid \d+/)
    assert.match((await running.stop('SIGTERM')).stdout, /got SIGTERM/)
  })
})
