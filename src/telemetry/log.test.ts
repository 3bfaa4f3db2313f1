// The log writes whole JSON lines and never a credential.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { newSecret } from '../core/secret.ts'
import { describeError, describeFailure, jsonLog, redact, terminalLog } from './log.ts'

test('lines are JSON, buffered and flushed', () => {
  const written: string[] = []
  const log = jsonLog({ now: () => 0, monotonicMs: () => 0 }, (text) => written.push(text))
  log.info('request', { status: 200, key: undefined })
  log.error('broken', { cause: 'a\nb' })
  log.flush()
  assert.deepEqual(
    written
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    [
      { time: '1970-01-01T00:00:00.000Z', level: 'info', event: 'request', status: 200 },
      { time: '1970-01-01T00:00:00.000Z', level: 'error', event: 'broken', cause: 'a\nb' },
    ],
  )
})

test('a secret in any field of a line is not written', () => {
  const written: string[] = []
  const log = jsonLog({ now: () => 0, monotonicMs: () => 0 }, (line) => written.push(line))
  const secret = newSecret('live')
  log.error('attempt_failed', { cause: `the provider said: bad key ${secret}`, note: secret })
  assert.ok(!written.join('').includes(secret.slice(-20)), written.join(''))
  assert.match(written.join(''), /bad key [^"]*\[redacted\]/)
})

test('the next line that fits is preceded by the number of lost lines', () => {
  const written: string[] = []
  let hasRoom = true
  const write = (lines: string): boolean => {
    if (hasRoom) written.push(lines)
    return hasRoom
  }
  const log = jsonLog({ now: () => 0, monotonicMs: () => 0 }, write)
  for (const [event, isTaken] of [
    ['one', true],
    ['two', false],
    ['three', false],
    ['four', true],
    ['five', true],
  ] as const) {
    hasRoom = isTaken
    log.error(event)
  }
  const told = written.join('').matchAll(/"event":"(\w+)"(?:,"count":(\d+))?/g)
  assert.deepEqual(
    [...told].map(([, event, count]) => [event, count]),
    [
      ['one', undefined],
      ['log_lines_lost', '2'],
      ['four', undefined],
      ['five', undefined],
    ],
  )
})

test('a reader that has stopped reading fills a limited amount of memory', async () => {
  const file = JSON.stringify(new URL('./log.ts', import.meta.url))
  const script = `
    import { jsonLog } from ${file}
    const log = jsonLog({ now: () => 0, monotonicMs: () => 0 })
    for (let line = 0; line < 3_000; line++) log.error('told', { what: 'x'.repeat(10_000) })
    process.stderr.write(String(process.stdout.writableLength), () => process.exit())`
  const words = ['--input-type=module', '--eval', script]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const unreadBytes = Number(await text(child.stderr))
  child.stdout.destroy()
  assert.ok(unreadBytes > 0 && unreadBytes < 17 * 2 ** 20, String(unreadBytes))
})

test('credentials are redacted', () => {
  const secret = newSecret('live')
  for (const text of [
    `key ${secret} failed`,
    `Authorization: Bearer ${secret}`,
    'sk-proj-abcdefghijklmnopqrstuvwxyz',
    'sk-ant-api03-abcdefghijklmnop',
    'AIzaSyA1234567890abcdefghij',
    'Bearer opaque-token-of-someone',
    'tgp_0abcdefghijklmnopqrstuvwxyz of a person',
    'tgs_0abcdefghijklmnopqrstuvwxyz of a program',
  ]) {
    const clean = redact(text)
    assert.match(clean, /\[redacted\]/, text)
    assert.doesNotMatch(clean, /abcdefghij|opaque/)
    assert.ok(!clean.includes(secret))
  }
  assert.equal(redact('postgres://user:hunter2@host/db'), 'postgres://user:[redacted]@host/db')
  for (const text of ['nothing to hide', 'auth.messages_bearer is now auth.headers'])
    assert.equal(redact(text), text)
})

test('an error is described with its causes', () => {
  const text = describeError(new Error('outer', { cause: new Error('inner') }))
  assert.match(text, /outer[\s\S]*caused by[\s\S]*inner/)
})

test('a failure is described in one line, with its causes and the errors it aggregates', () => {
  const timeout = new DOMException('too late', 'TimeoutError')
  const both = new AggregateError([new Error('not at ::1'), new Error('not at 127.0.0.1')])
  for (const [thrown, text] of [
    ['status 500', 'status 500'],
    [timeout, 'TimeoutError: too late'],
    [
      new TypeError('outer', { cause: timeout }),
      'TypeError: outer, because TimeoutError: too late',
    ],
    [both, 'AggregateError: Error: not at ::1; Error: not at 127.0.0.1'],
  ] as const)
    assert.equal(describeFailure(thrown), text)
})

// What a terminal shows of the requests.

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
