// The address people are given: a configured one wins, and one that means all interfaces is replaced.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { adminUrlOf, isAdminLocal, loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-admin-url-'))
after(() => rmSync(folder, { recursive: true }))

const cases = [
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ['http://127.0.0.1:51234', 'http://127.0.0.1:51234'],
  ['http://0.0.0.0:4000', 'http://127.0.0.1:4000'],
  ['http://[::]:4000', 'http://127.0.0.1:4000'],
  ['http://[::1]:4000', 'http://[::1]:4000'],
] as const

for (const [listening, url] of cases)
  test(`${listening} is reached at ${url}`, () => {
    assert.equal(adminUrlOf(loadConfig({ env: {}, folder: '/' }), listening), url)
  })

test('public_url wins, and a separate admin address comes before the shared one', () => {
  const { admin } = loadConfig({ env: {}, folder: '/' })
  const written = { ...admin, publicUrl: 'https://gate.example.com' }
  assert.equal(adminUrlOf({ admin: written }, 'http://127.0.0.1:1'), 'https://gate.example.com')
  const elsewhere = { ...admin, listen: { host: '127.0.0.1', port: 4001 } }
  assert.equal(adminUrlOf({ admin: elsewhere }, 'http://127.0.0.1:1'), 'http://127.0.0.1:4001')
})

for (const [config, isLocal] of [
  ['', true],
  ['server: { host: localhost }', true],
  ['server: { host: "::1" }', true],
  ['server: { host: 0.0.0.0 }', false],
  ['server: { host: "::" }', false],
  ['server: { host: 192.168.0.7 }', false],
  ['server: { host: 0.0.0.0 }\nadmin: { listen: "127.0.0.2:4001" }', true],
  ['admin: { listen: "0.0.0.0:4001" }', false],
  ['admin: { public_url: "http://localhost:4000" }', true],
  ['admin: { public_url: "http://tollgate.lan" }', false],
  ['server: { host: 0.0.0.0 }\nadmin: { public_url: "http://127.0.0.1:4000" }', false],
] as const)
  test(`${config || 'the default'} serves people ${isLocal ? 'on this machine only' : 'elsewhere'}`, () => {
    const file = join(folder, 'tollgate.yaml')
    writeFileSync(file, config)
    assert.equal(isAdminLocal(loadConfig({ env: {}, folder, options: { config: file } })), isLocal)
  })
