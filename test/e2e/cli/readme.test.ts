// The examples in README do what it says, run unchanged except for the address and the key.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { COMMAND, startGateway } from '../../support/gateway.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { run } from '../../support/process.ts'

const readme = readFileSync('README.md', 'utf8')
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text]) => text ?? '',
  )

let gateway: TestGateway
let secret: string

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

/** The commands of a shell block, without their comments, each on one line. */
const commands = (block: string): string[] =>
  block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '')

test('the command for the first key works', async () => {
  const create = blocks('sh')
    .flatMap(commands)
    .find((line) => line.includes('keys create'))
  const [, line = ''] = /=\$\(npx tollgate (.*) --secret-only\)$/.exec(create ?? '') ?? []
  const words = line.split(' ')
  const made = await gateway.tollgate(...words)
  secret = String(made['secret'])
  assert.match(secret, /^tg_live_/)
})

test('the first call with curl works', async () => {
  const curl = blocks('sh')
    .flatMap(commands)
    .find((line) => line.startsWith('curl'))
  const command = (curl ?? '').replace('http://127.0.0.1:4000', gateway.url)
  const { code, stdout } = await run('bash', ['-c', command.replace('curl', 'curl -sf')], {
    env: { ...process.env, TOLLGATE_API_KEY: secret },
  })
  assert.equal(code, 0, command)
  assert.equal(JSON.parse(stdout).object, 'chat.completion')
})

for (const [index, sdk] of ['openai', '@anthropic-ai/sdk'].entries()) {
  test(`the first call with ${sdk} works`, async () => {
    const block = blocks('ts')[index] ?? ''
    assert.match(block, new RegExp(`from '${sdk}'`))
    // Beside the checkout's node_modules, where the client is installed.
    const folder = resolve('.cache/readme')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `example-${index}.mjs`)
    writeFileSync(file, block.replaceAll('http://127.0.0.1:4000', gateway.url))
    const { code, stdout, stderr } = await run(process.execPath, [file], {
      env: { ...process.env, TOLLGATE_API_KEY: secret },
    })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /Hello/)
  })
}

test('the other commands work', async () => {
  const lines = blocks('sh').flatMap(commands)
  const others = lines.filter(
    (line) => line.startsWith('npx tollgate') && !line.includes('keys create'),
  )
  assert.ok(others.length >= 5)
  for (const line of others) {
    const words = line.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? []
    await gateway.tollgate(...words.slice(2))
  }
})

test('the list of commands matches --help', async () => {
  const { stdout } = await run(process.execPath, [COMMAND, '--help'])
  const [, list = ''] = /^Commands:\n(.*?)^\n/ms.exec(stdout) ?? []
  const known = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
  const [, named = ''] = /--help` lists them: (.*?)\./.exec(readme) ?? []
  const said = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  assert.deepEqual(new Set(said), new Set(known.filter((name) => name !== 'help')))
})

test('`tollgate check` accepts the configuration', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'))
  try {
    writeFileSync(join(folder, 'tollgate.yaml'), blocks('yaml')[0] ?? '')
    const { code, stderr } = await run(process.execPath, [COMMAND, 'check'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], OPENAI_API_KEY: 'sk-for-the-example' },
    })
    assert.equal(code, 0, stderr)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
