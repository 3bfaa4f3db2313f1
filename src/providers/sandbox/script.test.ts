// Steering: every word, both places, and a refusal that names what is wrong.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Conversation } from '../../core/request.ts'
import { readScript, withoutScript } from './script.ts'

const asking = (text: string): Conversation => ({
  ...SAMPLE_CONVERSATION,
  messages: [
    { role: 'user', parts: [{ type: 'text', text: 'an older [[sandbox error=500]]' }] },
    { role: 'assistant', parts: [{ type: 'text', text: '[[sandbox error=501]]' }] },
    { role: 'user', parts: [{ type: 'text', text }] },
  ],
})

describe('the steering line', () => {
  for (const [line, expected] of [
    ['no steering at all', {}],
    ['[[sandbox]]', {}],
    ['[[sandbox tokens=1', {}],
    ['[[sandboxes tokens=1]]', {}],
    ['[[sandbox unfinished\n[[sandbox tokens=1]]', { tokens: 1 }],
    ['before\n[[sandbox tokens=200]]\nafter', { tokens: 200 }],
    ['[[sandbox first=500ms gap=2s]]', { first: 500, gap: 2000 }],
    ['[[sandbox error=529]]', { error: 529 }],
    ['[[sandbox stall=10]]', { stall: 10 }],
    ['[[sandbox  cut=0   usage=none ]]', { cut: 0, usage: 'none' }],
    ['[[sandbox tool=get_weather]]', { tool: ['get_weather'] }],
    ['[[sandbox tool=a,b-c]]', { tool: ['a', 'b-c'] }],
    [
      '[[sandbox args={"a": "} ]]\\"", "b": [[1]]} cut=3]]',
      { args: { a: '} ]]"', b: [[1]] }, cut: 3 },
    ],
  ] as const) {
    test(line, () => assert.deepEqual(readScript(asking(line), undefined), expected))
  }

  test('the message beats the header, word by word', () => {
    const script = readScript(asking('[[sandbox tokens=5]]'), 'tokens=9 gap=1ms')
    assert.deepEqual(script, { tokens: 5, gap: 1 })
  })

  test('the model does not see the steering line', () => {
    assert.equal(
      withoutScript('Hello\n[[sandbox tokens=5 args={"a":[[]]}]]\nthere'),
      'Hello\n\nthere',
    )
  })
})

test('megabytes of openings are scanned only once', () => {
  const text = '[[sandbox '.repeat(1_000_000)
  assert.deepEqual(readScript(asking(text), undefined), {})
  assert.equal(withoutScript(text), text)
})

test('a steering line that is longer than any real one is refused', () => {
  const line = `[[sandbox args={"a":[${'{},'.repeat(10_000)}1]}]]`
  assert.throws(
    () => readScript(asking(line), undefined),
    (error) => error instanceof GatewayError && error.status === 400 && error.message.length < 200,
  )
})

describe('bad steering is refused, and the refusal names it', () => {
  for (const [line, name] of [
    ['[[sandbox speed=9]]', 'speed'],
    ['[[sandbox tokens]]', 'tokens'],
    ['[[sandbox tokens=-1]]', 'tokens'],
    ['[[sandbox tokens=many]]', 'tokens'],
    ['[[sandbox tokens=1 tokens=2]]', 'tokens'],
    ['[[sandbox first=5]]', 'first'],
    ['[[sandbox gap=601s]]', 'gap'],
    ['[[sandbox error=200]]', 'error'],
    ['[[sandbox usage=all]]', 'usage'],
    ['[[sandbox tool=]]', 'tool'],
    ['[[sandbox tool=a,,b]]', 'tool'],
    [`[[sandbox tool=${'a,'.repeat(16)}a]]`, 'tool'],
    ['[[sandbox args=[1]]]', 'args'],
    ['[[sandbox args={"a"]]', 'args'],
    ['[[sandbox constructor=1]]', 'constructor'],
    ['[[sandbox stall=1 cut=2]]', 'stall'],
  ] as const) {
    test(line, () =>
      assert.throws(
        () => readScript(asking(line), undefined),
        (error) =>
          error instanceof GatewayError &&
          error.status === 400 &&
          error.message.includes(`"${name}"`),
      ),
    )
  }
})
