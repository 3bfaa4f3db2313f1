// The command in the hints of a start runs the same program wherever it was started, and never one from a registry.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { ownCommand } from './serve.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-command-')))
after(() => rmSync(root, { recursive: true }))

const folderOf = (...names: string[]): string => {
  const folder = join(root, ...names)
  mkdirSync(folder, { recursive: true })
  return folder
}
const program = join(folderOf('package', 'bin'), 'tollgate.mjs')
writeFileSync(program, '')
const linked = folderOf('linked', 'node_modules', '.bin')
symlinkSync(program, join(linked, 'tollgate'))
const installed = folderOf('usr', 'bin')
symlinkSync(program, join(installed, 'tollgate'))
const foreign = folderOf('foreign', 'bin')
writeFileSync(join(foreign, 'tollgate'), '')

test('npx runs it only in a folder that links to it', () => {
  const path = [linked, foreign].join(delimiter)
  const from = (folder: string): string => ownCommand({ program, folder, path })
  assert.equal(from(join(root, 'linked')), 'npx tollgate')
  assert.equal(from(root), `node ${JSON.stringify(program)}`)
})

test('its name alone runs it where that is what the shell finds', () => {
  const from = (path: string | undefined): string => ownCommand({ program, folder: root, path })
  assert.equal(from([foreign, installed].join(delimiter)), 'tollgate')
  assert.equal(from(foreign), `node ${JSON.stringify(program)}`)
  assert.equal(from(undefined), `node ${JSON.stringify(program)}`)
})

test('the launcher runs it where the built program was started without it', () => {
  const built = join(folderOf('package', 'dist'), 'main.js')
  writeFileSync(built, '')
  const command = ownCommand({ program: built, folder: root, path: undefined })
  assert.equal(command, `node ${JSON.stringify(program)}`)
})
