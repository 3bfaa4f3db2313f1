// dist/ and web/dist are rebuilt once when their sources change, and leftovers of earlier builds are removed later.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { run } from '../../support/process.ts'

// A checkout with the full build and almost nothing to build.
const root = mkdtempSync(join(tmpdir(), 'tollgate-rebuild-'))
before(() => {
  for (const path of ['bin', 'scripts', 'package.json', 'package-lock.json'])
    cpSync(path, join(root, path), { recursive: true })
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  for (const entry of [
    'store/sqlite/worker',
    'ledger/sqlite/batch-worker',
    'access/tokenizer-thread',
  ])
    write(`src/${entry}.ts`, 'export {}\n')
  write('src/cli/main.ts', `import('./part.ts').then(({ part }) => console.log(part))\n`)
  write('src/cli/part.ts', `export const part: string = 'first'\n`)
})
after(() => rmSync(root, { recursive: true, force: true }))

test('a changed source is built, and an unchanged one is not', async () => {
  assert.deepEqual(await buildAndRun(), {
    said: 'tollgate: building the gateway\n',
    ran: 'first\n',
  })
  assert.deepEqual(await buildAndRun(), { said: '', ran: 'first\n' })
  write('src/cli/part.ts', `export const part: string = 'second'\n`)
  assert.deepEqual(await buildAndRun(), {
    said: 'tollgate: building the gateway\n',
    ran: 'second\n',
  })
})

test('what was written counts, not when: the same text is not built again, another of the same length and age is', async () => {
  const file = join(root, 'src/cli/part.ts')
  const { atime, mtime } = statSync(file)
  write('src/cli/part.ts', `export const part: string = 'second'\n`)
  assert.deepEqual(await buildAndRun(), { said: '', ran: 'second\n' })
  write('src/cli/part.ts', `export const part: string = 'single'\n`)
  utimesSync(file, atime, mtime)
  assert.equal((await buildAndRun()).ran, 'single\n')
})

test('files of earlier builds stay for a day, for gateways still running', async () => {
  write('dist/part-recent.js', '')
  write('dist/part-old.js', '')
  const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400
  utimesSync(join(root, 'dist/part-old.js'), twoDaysAgo, twoDaysAgo)
  write('src/cli/part.ts', `export const part: string = 'third'\n`)
  assert.equal((await buildAndRun()).ran, 'third\n')
  assert.ok(existsSync(join(root, 'dist/part-recent.js')))
  assert.ok(!existsSync(join(root, 'dist/part-old.js')))
})

test('a renamed or removed source counts as a change', async () => {
  rmSync(join(root, 'src/cli/part.ts'))
  write('src/cli/main.ts', `import('./renamed.ts').then(({ part }) => console.log(part))\n`)
  write('src/cli/renamed.ts', `export const part = 'renamed'\n`)
  assert.equal((await buildAndRun()).ran, 'renamed\n')
  rmSync(join(root, 'dist/main.js'))
  assert.equal((await buildAndRun()).ran, 'renamed\n')
})

test('the interface is built again when what it shares with the gateway has changed', async () => {
  write('web/index.html', '<script type="module" src="/main.ts"></script>\n')
  write('web/main.ts', `import { word } from '../src/admin/contract/word.ts'\nconsole.log(word)\n`)
  write('src/admin/contract/word.ts', `export { word } from '../../core/word.ts'\n`)
  write('src/core/word.ts', `export const word = 'first'\n`)
  assert.equal(await ensure('Web'), 'tollgate: building the web interface\n')
  assert.equal(await ensure('Web'), '')
  write('src/core/word.ts', `export const word = 'second'\n`)
  assert.equal(await ensure('Web'), 'tollgate: building the web interface\n')
  write('src/admin/contract/word.ts', `export const word = 'third'\n`)
  assert.equal(await ensure('Web'), 'tollgate: building the web interface\n')
})

function write(path: string, text: string): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

async function buildAndRun(): Promise<{ readonly said: string; readonly ran: string }> {
  const said = await ensure('Built')
  const ended = await run(process.execPath, [join(root, 'dist/main.js')])
  assert.equal(ended.code, 0, ended.stderr)
  return { said, ran: ended.stdout }
}

/** Returns what it said. */
async function ensure(what: 'Built' | 'Web'): Promise<string> {
  const checkout = pathToFileURL(join(root, 'scripts/checkout.mjs')).href
  const program = `import { ensure${what} } from '${checkout}'; await ensure${what}()`
  const ended = await run(process.execPath, ['--input-type=module', '--eval', program])
  assert.equal(ended.code, 0, ended.stderr)
  return ended.stderr
}
