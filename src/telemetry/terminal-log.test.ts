// What a terminal shows of the requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonLog } from './log.ts'
import { terminalLog } from './terminal-log.ts'

const clock = { now: () => 0, monotonicMs: () => 0 }

for (const [method, path, status, isShown] of [
  ['GET', '/assets/app.js', 200, false],
  ['GET', '/admin/api/v1/keys', 200, false],
  ['GET', '/admin/api/v1/keys', 304, false],
  ['GET', '/admin/api/v1/keys', 401, true],
  ['POST', '/admin/api/v1/keys', 201, true],
  ['GET', '/v1/models', 200, true],
  ['POST', '/v1/chat/completions', 402, true],
] as const)
  test(`${method} ${path} with ${status} is ${isShown ? 'shown' : 'left out'}`, () => {
    let text = ''
    const log = jsonLog(clock, (more) => (text += more))
    const terminal = terminalLog(log)
    terminal.info('request', { method, path, status })
    terminal.flush()
    assert.equal(text !== '', isShown)
  })

test('other events are shown', () => {
  let text = ''
  const terminal = terminalLog(jsonLog(clock, (more) => (text += more)))
  terminal.info('listening', { url: 'http://127.0.0.1:4000' })
  terminal.flush()
  assert.match(text, /"event":"listening"/)
})
