// The test runner itself, on small folders of test files: what it counts, what it prints last, and its exit code.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { run } from '../../support/process.ts'

const suite = resolve('scripts/suite.ts')
// The runner finds its services already set up, and the test files do not know that they run inside another test.
const { NODE_TEST_CONTEXT: _, ...outer } = process.env
const env = {
  ...outer,
  TOLLGATE_TEST_POSTGRES: 'postgres://nowhere',
  TOLLGATE_TEST_CHROMIUM: '/bin/true',
}

const pass = "test('passes', () => {})"
const fail = "test('fails', () => { throw new Error('the reason') })"

const cases: {
  name: string
  files: Record<string, string>
  code: number
  last: string
  says?: RegExp
}[] = [
  { name: 'all pass', files: { a: pass, b: pass }, code: 0, last: '2 passed, 0 failed' },
  {
    name: 'one fails',
    files: { a: pass, b: fail },
    code: 1,
    last: '1 passed, 1 failed',
    says: /FAILED src\/b\.test\.ts: fails\n.*the reason/,
  },
  {
    name: 'a group fails once',
    files: { a: `describe('group', () => { ${fail}; ${pass} })` },
    code: 1,
    last: '1 passed, 1 failed',
  },
  {
    name: 'a file cannot be loaded',
    files: { a: pass, b: "import './nowhere.ts'" },
    code: 1,
    last: '1 passed, 1 failed',
    says: /Cannot find module .*nowhere\.ts/,
  },
  {
    name: 'a file ends by itself',
    files: { a: `${pass}; setTimeout(() => process.exit(3), 10)` },
    code: 1,
    last: '1 passed, 1 failed',
  },
  {
    name: 'a file holds no test',
    files: { a: pass, b: '' },
    code: 1,
    last: '1 passed, 1 failed',
    says: /holds no test/,
  },
  {
    name: 'a skip says why',
    files: { a: `${pass}; test('x', { skip: 'no moon tonight' }, () => {})` },
    code: 0,
    last: '1 passed, 0 failed',
    says: /\nskipped src\/a\.test\.ts: x: no moon tonight\n1 skipped\n/,
  },
  {
    name: 'a skip does not say why',
    files: { a: `${pass}; test.skip('x', () => {})` },
    code: 1,
    last: '1 passed, 1 failed',
    says: /skipped without a reason/,
  },
  { name: 'nothing ran', files: {}, code: 1, last: '0 passed, 0 failed' },
]

describe('the totals when', () => {
  for (const { name, files, code, last, says } of cases)
    test(name, async () => {
      using folder = folderWith(files)
      const ended = await run(process.execPath, [suite, 'all', 'src'], { cwd: folder.path, env })
      assert.equal(ended.stdout.trimEnd().split('\n').at(-1), last, ended.stdout + ended.stderr)
      assert.equal(ended.code, code)
      if (says) assert.match(ended.stdout, says)
    })
})

test('a pattern chooses files by their path', async () => {
  using folder = folderWith({ here: pass, there: fail })
  const ended = await run(process.execPath, [suite, 'all', 'src/here'], { cwd: folder.path, env })
  assert.match(ended.stdout, /\n1 passed, 0 failed\n$/)
})

describe('in a whole run, a file that fails once', () => {
  // Whether it was there before tells the first try from the second.
  const once = `import { existsSync, writeFileSync } from 'node:fs'
    test('fails once', () => {
      const isSecond = existsSync('tried')
      writeFileSync('tried', '')
      if (!isSecond) throw new Error('the first time')
    })`
  const whole = async (files: Record<string, string>): Promise<string> => {
    using folder = folderWith(files)
    return (await run(process.execPath, [suite, 'all'], { cwd: folder.path, env })).stdout
  }

  test('is run again, alone, and named', async () => {
    const printed = await whole({ a: once, b: pass })
    assert.match(printed, /\nunsteady: src\/a\.test\.ts failed beside others, passed alone\n/)
    assert.doesNotMatch(printed, /FAILED src/)
  })

  for (const [name, files] of Object.entries({
    'fails for good if it fails again': { a: fail, b: pass },
    'has one try where it holds a promise about money': { 'ledger/a': once },
    'has one try where many fail': { a: once, b: fail, c: fail, d: fail },
  }))
    test(name, async () => {
      const printed = await whole(files)
      assert.match(printed, /\nFAILED src\/(ledger\/)?a\.test\.ts/)
      assert.doesNotMatch(printed, /unsteady/)
    })

  test('has no second try where only some files are run', async () => {
    using folder = folderWith({ a: once })
    const ended = await run(process.execPath, [suite, 'all', 'src'], { cwd: folder.path, env })
    assert.match(ended.stdout, /\n0 passed, 1 failed\n$/)
  })
})

test('an interrupted run ends its files and fails', async () => {
  // The file interrupts its parent, the runner, and would then run forever.
  const interrupt = "process.kill(process.ppid, 'SIGINT')"
  const hang = `${interrupt}; ${interrupt}; setInterval(() => {}, 1000)`
  using folder = folderWith({ a: `test('hangs', () => new Promise(() => { ${hang} }))` })
  const ended = await run(process.execPath, [suite, 'all', 'src'], { cwd: folder.path, env })
  assert.match(ended.stdout, /\ninterrupted\n\n0 passed, 1 failed\n$/)
  assert.equal(ended.code, 1)
})

function folderWith(files: Record<string, string>): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-suite-'))
  mkdirSync(join(path, 'src', 'ledger'), { recursive: true })
  for (const [name, text] of Object.entries(files))
    writeFileSync(
      join(path, 'src', `${name}.test.ts`),
      `import { describe, test } from 'node:test'\nvoid describe\n${text}\n`,
    )
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}
