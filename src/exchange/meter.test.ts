// What counts as a model's work, when it began, and when all of it is counted.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CanonicalEvent } from '../core/events.ts'
import { NO_USAGE } from '../core/events.ts'
import { Meter } from './meter.ts'

const SEAL = { format: 'messages', kind: 'redacted', value: 'sealed' } as const
const place = { choice: 0, block: 0 }
const clock = { at: 0, monotonicMs: () => clock.at }

function metered(...events: readonly CanonicalEvent[]): Meter {
  const meter = new Meter()
  for (const event of events) {
    clock.at += 10
    meter.see(event, clock)
  }
  return meter
}

test('everything a model writes is counted in bytes', () => {
  for (const [event, bytes] of [
    [{ type: 'text-delta', ...place, text: 'größe' }, 7],
    [{ type: 'refusal-delta', ...place, text: 'no' }, 2],
    [{ type: 'thinking-delta', ...place, text: 'hm' }, 2],
    [{ type: 'tool-call-start', ...place, id: 'call_1', name: 'clock', custom: false }, 5],
    [{ type: 'tool-call-delta', ...place, text: '{}' }, 2],
    [{ type: 'thinking-end', ...place, seal: SEAL }, 6],
    [{ type: 'thinking-end', ...place, seal: { ...SEAL, kind: 'signature' } }, 0],
    [{ type: 'thinking-end', ...place }, 0],
    [{ type: 'text-start', ...place }, 0],
    [{ type: 'response-start', id: 'chatcmpl-1', model: 'm' }, 0],
    [{ type: 'ping' }, 0],
  ] as const) {
    const meter = metered(event)
    assert.equal(meter.outputBytes, bytes, event.type)
    assert.equal(meter.hasOutput, bytes > 0, event.type)
    assert.equal(meter.firstOutputMs, bytes > 0 ? clock.at : undefined, event.type)
  }
})

test('the time of the first output stays, however much follows', () => {
  const text = { type: 'text-delta', ...place, text: 'x' } as const
  const meter = metered({ type: 'ping' }, text, text, text)
  assert.equal(meter.firstOutputMs, clock.at - 20)
})

test('output tokens that a provider counted are output, even if none was seen', () => {
  const counted = (outputTokens: number) =>
    metered({ type: 'usage', usage: { ...NO_USAGE, inputTokens: 9, outputTokens } })
  assert.deepEqual([counted(1).hasOutput, counted(0).hasOutput], [true, false])
})

test('a count is valid until something is written after it', () => {
  const usage = { type: 'usage', usage: NO_USAGE } as const
  const text = { type: 'text-delta', ...place, text: 'x' } as const
  const states = [
    [],
    [text],
    [text, usage],
    [text, usage, text],
    [usage, { type: 'ping' }],
  ] as const
  assert.deepEqual(
    states.map((events) => metered(...events).isCounted),
    [false, false, true, false, true],
  )
})

test('an answer is complete only when its provider says so', () => {
  const text = { type: 'text-delta', ...place, text: 'x' } as const
  assert.equal(metered(text).isComplete, false)
  assert.equal(metered(text, { type: 'response-end' }).isComplete, true)
})

test('searches are counted as they arrive', () => {
  assert.equal(metered({ type: 'search' }, { type: 'search' }).searches, 2)
})
