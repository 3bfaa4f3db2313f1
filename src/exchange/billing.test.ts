// Bills: the provider's count if it is possible, else an estimate from what was received, which never exceeds the hold.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FREE, makePrice } from '../catalog/prices.ts'
import { NO_USAGE, type CanonicalEvent, type Usage } from '../core/events.ts'
import { NO_INPUT, SEARCHES_MOST } from '../core/request.ts'
import { billOf, Meter, mostOf, needsCount, type Billable } from './billing.ts'

const CLOCK = { monotonicMs: () => 0 }

const PRICE = makePrice({
  ...FREE,
  rates: {
    input: 1_000_000n,
    cached: 100_000n,
    cacheWriteShort: 1_250_000n,
    cacheWriteLong: 2_000_000n,
    output: 2_000_000n,
  },
})

function billable(usage: Partial<Usage> | undefined, more: Partial<Billable> = {}): Billable {
  const meter = new Meter()
  const see = (event: Parameters<Meter['see']>[0]) => meter.see(event, CLOCK)
  see({ type: 'text-delta', choice: 0, block: 0, text: 'x'.repeat(300) })
  if (usage !== undefined) see({ type: 'usage', usage: { ...NO_USAGE, ...usage } })
  see({ type: 'response-end' })
  return {
    meter,
    price: PRICE,
    inputTokensPossible: 1_000,
    input: { ...NO_INPUT, textBytes: 600, items: 1 },
    inputTokens: undefined,
    textTokens: 200,
    inputTokensMax: 900,
    outputTokensMax: 500,
    hasClientLeft: false,
    unseenMs: 0,
    held: 10_000_000n,
    keepsLong: false,
    ...more,
  }
}

test('a possible usage is believed', () => {
  const bill = billOf(
    billable({ inputTokens: 100, cachedTokens: 50, outputTokens: 10, reasoningTokens: 4 }),
  )
  assert.deepEqual(
    { cost: bill.cost, estimated: bill.estimated, impossible: bill.impossible },
    // 50 × 1 + 50 × 0.1 + 10 × 2 micro-dollars
    { cost: 75_000n, estimated: false, impossible: false },
  )
})

test('the largest possible usage is believed', () => {
  for (const usage of [
    { inputTokens: 1_000, cachedTokens: 400, cacheWriteTokens: 600, cacheWriteLongTokens: 600 },
    { inputTokens: 1_000, audioTokens: 1_000 },
    { inputTokens: 1, outputTokens: 500, reasoningTokens: 500 },
    { inputTokens: 1, webSearches: SEARCHES_MOST },
  ]) {
    const bill = billOf(billable(usage))
    assert.deepEqual([bill.estimated, bill.usage], [false, { ...NO_USAGE, ...usage }])
  }
})

test('long cache writes cost the long price even if the usage names no lifetimes', () => {
  const usage = { inputTokens: 100, cacheWriteTokens: 80 }
  assert.equal(billOf(billable(usage)).cost, 120_000n)
  const long = billable(usage, { keepsLong: true })
  assert.deepEqual([billOf(long).cost, billOf(long).usage.cacheWriteLongTokens], [180_000n, 80])
  assert.equal(mostOf(long), 1_180_000n)
})

test('a server that says it read nothing has not counted', () => {
  for (const outputTokens of [0, 400]) {
    const { usage, estimated, impossible } = billOf(billable({ outputTokens }))
    assert.deepEqual([estimated, impossible], [true, false])
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [204, outputTokens || 100])
  }
})

test('input that nobody counted is charged as the tokenizer counts it, or as dense text', () => {
  const inputOf = (more: Partial<Billable>): number =>
    billOf(billable(undefined, more)).usage.inputTokens
  assert.equal(inputOf({ textTokens: 300 }), 304)
  // 600 bytes of base64 have 409 tokens.
  assert.equal(inputOf({ textTokens: undefined }), 433)
  assert.equal(inputOf({ textTokens: undefined, inputTokens: 150 }), 150)
  assert.equal(inputOf({ textTokens: 5_000 }), 900)
  const dear = billOf(billable(undefined, { textTokens: 5_000, held: 1_000n }))
  assert.deepEqual([dear.cost, dear.estimated], [1_000n, true])
})

test('texts are counted only where the bill depends on them', () => {
  assert.equal(needsCount(billable(undefined)), true)
  assert.equal(needsCount(billable({ outputTokens: 10 })), true)
  assert.equal(needsCount(billable({ inputTokens: 10 })), false)
  assert.equal(needsCount(billable(undefined, { inputTokens: 150 })), false)
  const input = { ...NO_INPUT, unbounded: true }
  assert.equal(needsCount(billable(undefined, { input, hasClientLeft: true })), false)
})

test('a missing or impossible usage is replaced by an estimate of what was received', () => {
  for (const [what, usage] of Object.entries({
    missing: undefined,
    negative: { inputTokens: -1 },
    fraction: { inputTokens: 1.5 },
    'above the context window': { inputTokens: 1_001 },
    'above the limit that was sent': { outputTokens: 501 },
    'more cached than read': { inputTokens: 10, cachedTokens: 11 },
    'more written than read': { inputTokens: 10, cacheWriteTokens: 11 },
    'more kept for long than kept': { cacheWriteLongTokens: 1 },
    'more heard than read': { inputTokens: 10, audioTokens: 11 },
    'more thought than written': { outputTokens: 1, reasoningTokens: 2 },
    'thoughts below zero': { outputTokens: 100, reasoningTokens: -1 },
    'output below zero': { outputTokens: -1, reasoningTokens: -1 },
    'half a search': { outputTokens: 100, webSearches: 0.5 },
    'not a number': { inputTokens: Number.NaN },
    'more searches than anybody runs': { outputTokens: 100, webSearches: SEARCHES_MOST + 1 },
  })) {
    const bill = billOf(billable(usage))
    assert.ok(bill.estimated, what)
    assert.equal(bill.impossible, usage !== undefined, what)
    assert.ok(bill.usage.outputTokens >= 100, `${what}: the output received is charged`)
    assert.ok(bill.usage.inputTokens > 0, `${what}: the input is charged`)
    assert.ok(bill.cost > 0n, what)
  }
})

test('an estimate never exceeds the hold', () => {
  assert.equal(billOf(billable(undefined, { held: 7n })).cost, 7n)
})

test('a usage above the hold is charged in full', () => {
  const usage = { inputTokens: 1, outputTokens: 10 }
  assert.equal(billOf(billable(usage, { held: 7n })).cost, 21_000n)
})

test('a cut stream pays for its input and the received output', () => {
  const cut = billable(undefined)
  cut.meter.isComplete = false
  cut.meter.usage = { ...NO_USAGE, inputTokens: 120, outputTokens: 1 }
  const bill = billOf(cut)
  assert.deepEqual(
    [bill.usage.inputTokens, bill.usage.outputTokens, bill.estimated],
    [120, 100, true],
  )
})

test('a cut stream of short tokens pays for each piece', () => {
  const meter = new Meter()
  for (const text of ['', ...Array.from('3,141,592,6'.repeat(20))]) {
    meter.see({ type: 'text-delta', choice: 0, block: 0, text }, CLOCK)
  }
  assert.equal(billOf(billable(undefined, { meter })).usage.outputTokens, 220)
})

test('a stream cut before its first word pays for its input alone', () => {
  for (const outputTokens of [0, -1]) {
    const meter = new Meter()
    meter.see({ type: 'usage', usage: { ...NO_USAGE, inputTokens: 120, outputTokens } }, CLOCK)
    const { usage } = billOf(billable(undefined, { meter }))
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [120, 0])
  }
  const silent = billOf(billable(undefined, { meter: new Meter() }))
  assert.deepEqual([silent.usage.inputTokens > 0, silent.usage.outputTokens], [true, 0])
})

test('a cut stream pays separate rates for cached, cache-written and other input', () => {
  const cut = billable({
    inputTokens: 800,
    cachedTokens: 500,
    cacheWriteTokens: 200,
    cacheWriteLongTokens: 50,
    outputTokens: 1,
  })
  cut.meter.isComplete = false
  // 100 × 1 + 500 × 0.1 + 150 × 1.25 + 50 × 2 + 100 × 2 micro-dollars
  assert.equal(billOf(cut).cost, 637_500n)
})

test('a cut stream pays the audio rate for audio input', () => {
  const price = makePrice({ ...PRICE, fees: { ...PRICE.fees, audioToken: 3_000_000n } })
  const cut = billable({ inputTokens: 100, audioTokens: 90, outputTokens: 1 }, { price })
  cut.meter.isComplete = false
  const bill = billOf(cut)
  // 100 × 1 + 100 × 2, and 90 × 3 beside them
  assert.deepEqual([bill.cost, bill.surcharge.nanodollars], [300_000n, 270_000n])
  const { cost, surcharge } = billOf({ ...cut, held: 500_000n })
  assert.equal(cost + surcharge.nanodollars, 500_000n)
})

test('a cut stream pays for the searches it showed and for the input each one read again', () => {
  const price = makePrice({ ...PRICE, fees: { ...PRICE.fees, webSearch: 10_000_000_000n } })
  const cut = billable(
    { inputTokens: 100, outputTokens: 1 },
    { price, inputTokensPossible: 90_000 },
  )
  cut.meter.see({ type: 'search' }, CLOCK)
  cut.meter.see({ type: 'search' }, CLOCK)
  cut.meter.isComplete = false
  const { usage, surcharge } = billOf({ ...cut, held: 100_000_000n })
  // The prompt three times, what the first search found twice, and what the second found once.
  assert.deepEqual([usage.inputTokens, usage.webSearches], [24_300, 2])
  assert.equal(surcharge.nanodollars, 20_000_000n)
  // A provider that counts searches itself counts what they read, too.
  cut.meter.usage = { ...NO_USAGE, inputTokens: 9_000, webSearches: 1 }
  const counted = billOf({ ...cut, held: 100_000_000n })
  assert.deepEqual([counted.usage.inputTokens, counted.usage.webSearches], [9_000, 1])
})

test('a client that cuts its stream pays all the input held for a document', () => {
  const { input } = billable(undefined)
  const inputTokensOf = (more: Partial<Billable>): number =>
    billOf(billable(undefined, { input: { ...input, unbounded: true }, ...more })).usage.inputTokens
  assert.deepEqual([inputTokensOf({ hasClientLeft: true }), inputTokensOf({})], [900, 204])
  const sound = { ...input, unbounded: true, audio: true } as const
  assert.equal(
    billOf(billable(undefined, { input: sound, hasClientLeft: true })).usage.audioTokens,
    900,
  )
  // Unless the provider has reported its input.
  const told = billable(
    { inputTokens: 120 },
    { input: { ...input, unbounded: true }, hasClientLeft: true },
  )
  told.meter.isComplete = false
  assert.equal(billOf(told).usage.inputTokens, 120)
})

test('the most a request can still cost is known once its input is, but not from an impossible count', () => {
  const most = (usage: Partial<Usage>) => mostOf(billable(usage))
  // 50 × 1 + 50 × 0.1 + 500 × 2 micro-dollars
  assert.equal(most({ inputTokens: 100, cachedTokens: 50, outputTokens: 1 }), 1_055_000n)
  for (const usage of [
    { inputTokens: 0 },
    { inputTokens: -1 },
    { inputTokens: 1.5 },
    { inputTokens: 10, cachedTokens: -1 },
    { inputTokens: 10, cachedTokens: 0.5 },
    { inputTokens: 10, cachedTokens: 11 },
    { inputTokens: 1_001 },
  ])
    assert.equal(most(usage), undefined, JSON.stringify(usage))
})

test('a usage reported before the last words does not cover them', () => {
  const counts = { inputTokens: 120, outputTokens: 1 }
  const early = billable(undefined)
  const { meter } = early
  meter.see({ type: 'usage', usage: { ...NO_USAGE, ...counts } }, CLOCK)
  meter.see({ type: 'text-delta', choice: 0, block: 0, text: 'and more' }, CLOCK)
  const bill = billOf(early)
  assert.deepEqual(
    [bill.usage.inputTokens, bill.usage.outputTokens, bill.estimated],
    [120, 103, true],
  )
})

test('hidden reasoning is estimated by the time it took, up to the limit', () => {
  const outputTokensOf = (unseenMs: number): number => {
    const meter = new Meter()
    meter.see({ type: 'text-delta', choice: 0, block: 0, text: 'x'.repeat(300) }, CLOCK)
    return billOf(billable(undefined, { meter, unseenMs })).usage.outputTokens
  }
  assert.deepEqual([0, 2_000, 60_000].map(outputTokensOf), [100, 400, 500])
})

// What counts as a model's work, when it began, and when all of it is counted.

const OPAQUE = { format: 'messages', kind: 'redacted', value: 'sealed' } as const
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
    [{ type: 'reasoning-delta', ...place, text: 'hm' }, 2],
    [{ type: 'tool-call-start', ...place, id: 'call_1', name: 'clock', custom: false }, 5],
    [{ type: 'tool-call-delta', ...place, text: '{}' }, 2],
    [{ type: 'reasoning-end', ...place, opaque: OPAQUE }, 6],
    [{ type: 'reasoning-end', ...place, opaque: { ...OPAQUE, kind: 'signature' } }, 0],
    [{ type: 'reasoning-end', ...place }, 0],
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
