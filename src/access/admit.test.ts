// What is asked of the ledger for a request: by its bytes first, by its tokens where that does not fit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../../test/samples/caller.ts'
import { TIMEOUTS } from '../catalog/catalog.ts'
import { UNKNOWN_ABILITIES } from '../catalog/models.ts'
import type { Model, Target } from '../catalog/models.ts'
import { FREE, makePrice } from '../catalog/prices.ts'
import { countedBound, inputBound, likelyInput, recountedBound } from '../catalog/worst-case.ts'
import { NO_INPUT } from '../core/request.ts'
import type { Call, InputMeasure } from '../core/request.ts'
import type { Ask, Balances, Ledger, Refused, Reserved, Shortage } from '../ledger/ledger.ts'
import type { AdmissionRequest, Candidate } from './admit.ts'
import { admit, forecast, RaisedBounds } from './admit.ts'
import type { Tokenizer } from './tokenizer.ts'

const INPUT: InputMeasure = { ...NO_INPUT, textBytes: 3_000, items: 1 }
const COUNT = { likely: 100, most: 200 }

function targetOf(model: string, input: bigint): Target {
  return {
    provider: 'local',
    model,
    weight: 1,
    price: makePrice({ ...FREE, rates: { ...FREE.rates, input, output: 2n * input } }),
    context: 10_000,
    maxOutput: 500,
    imageTokens: 1,
    lacks: [],
    traits: {},
    writesCacheUnasked: false,
    timeouts: TIMEOUTS,
  }
}

const target = targetOf('m', 1_000n)

function candidate(at: Target, more: Partial<Candidate> = {}): Candidate {
  return { target: at, inputTokens: undefined, searchesMax: 0, ...more }
}

const model: Model = {
  id: 'm',
  kind: 'chat',
  targets: [target],
  fallbacks: [],
  price: target.price,
  context: target.context,
  maxOutput: target.maxOutput,
  defaultOutput: null,
  abilities: UNKNOWN_ABILITIES,
  available: true,
  leftOut: [],
  reason: null,
}
const bytesBound = inputBound(INPUT, 'chat', target)
const textsBound = recountedBound(INPUT, COUNT.most, { kind: 'chat', window: target })

const left = { remainingNanodollars: null }
const balances = { key: left, frame: left } as Balances
const granted: Reserved = {
  reserved: true,
  holdId: 1,
  amountNanodollars: 1n,
  outputTokens: 500,
  capped: false,
  waitedMs: 0,
  balances,
}
const recount = { reserved: false, reason: 'recount', isFirstFit: false } as Refused
const paused = { reserved: false, reason: 'key_status', status: 'paused', balances } as Refused

/** A ledger that answers as told, and what becomes of it. */
function desk(...answers: readonly (Reserved | Refused)[]) {
  const asks: Ask[] = []
  const happened: string[] = []
  const answer = (how: string) => async (ask: Ask) => {
    happened.push(how)
    asks.push(ask)
    return answers[asks.length - 1] ?? assert.fail('the ledger is asked too often')
  }
  const ledger = {
    reserve: answer('reserve'),
    dryRun: answer('dry run'),
    countRefused: (keyId: string, name: string) => happened.push(`refused ${keyId} ${name}`),
  }
  const tokenizer = {
    count: async () => {
      happened.push('texts counted')
      return COUNT
    },
  }
  const parts = {
    ledger: ledger as unknown as Ledger,
    tokenizer: tokenizer as unknown as Tokenizer,
    raisedBounds: new RaisedBounds(),
  }
  const request = (more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
    requestId: 'req_1',
    endpoint: 'chat',
    caller: SAMPLE_CALLER,
    model,
    call: callOf(INPUT),
    texts: async () => ['a text'],
    candidates: () => [candidate(target)],
    tell: () => happened.push('limits told'),
    countAtTargets: async () => {
      happened.push('provider asked')
      return () => undefined
    },
    closed: new AbortController().signal,
    ...more,
  })
  return { parts, request, asks, happened }
}

function callOf(input: InputMeasure): Call {
  const output = { choices: 1, thinks: false, tokensMax: 500 }
  return { model: 'm', stream: false, input, output, needs: [], dropped: [] }
}

test('a request that fits is reserved at once, bounded by its bytes and estimated at its likely tokens', async () => {
  const { parts, request, asks, happened } = desk(granted)
  const admission = await admit(parts, request())
  assert.deepEqual(happened, ['reserve'])
  assert.equal(asks[0]?.candidates[0]?.fixedPicodollars, BigInt(bytesBound) * 1_000n)
  assert.equal(asks[0]?.estimatedTokens, likelyInput(INPUT))
  assert.equal(asks[0]?.recounted, false)
  const { inputTokens, basis, maySearch, outputTokensMax } = admission
  assert.deepEqual(
    [inputTokens, basis, maySearch, outputTokensMax],
    [bytesBound, 'bytes', true, 500],
  )
})

test('no output limit is sent when there is no output to pay for', async () => {
  const { parts, request } = desk({ ...granted, outputTokens: 0 })
  assert.equal((await admit(parts, request())).outputTokensMax, undefined)
})

test('a request that does not fit is counted and reserved again', async () => {
  const { parts, request, asks, happened } = desk(recount, granted)
  const { inputTokens, basis } = await admit(parts, request())
  assert.deepEqual(happened, ['reserve', 'provider asked', 'texts counted', 'reserve'])
  assert.deepEqual([inputTokens, basis], [textsBound, 'count'])
  assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, BigInt(textsBound) * 1_000n)
  assert.equal(asks[1]?.estimatedTokens, likelyInput(INPUT, COUNT.likely))
  assert.equal(asks[1]?.recounted, true)
})

test('a provider’s own count is preferred to ours', async () => {
  const { parts, request } = desk(recount, granted)
  const countAtTargets = async () => () => 40
  const { inputTokens } = await admit(parts, request({ countAtTargets }))
  assert.equal(inputTokens, countedBound(40))
})

test('a count that cannot bound the input is skipped, and the bound stays', async () => {
  for (const [more, counted] of [
    [{ unbounded: true }, 'provider asked'],
    [{ fetched: true }, 'texts counted'],
  ] as const) {
    const { parts, request, asks, happened } = desk(recount, granted)
    await admit(parts, request({ call: callOf({ ...INPUT, ...more }) }))
    assert.deepEqual(happened, ['reserve', counted, 'reserve'])
    if ('unbounded' in more) assert.equal(asks[1]?.estimatedTokens, target.context)
  }
})

test('a count that bounds no better is ignored', async () => {
  const { parts, request } = desk(recount, granted)
  const countAtTargets = async () => () => 9_999
  const { inputTokens, basis } = await admit(parts, request({ countAtTargets }))
  assert.deepEqual([inputTokens, basis], [bytesBound, 'bytes'])
})

test('searches are dropped when the budget is tight, unless the key refuses instead', async () => {
  for (const [whenTight, maySearch, searches] of [
    ['cap', false, 0n],
    ['refuse', true, 3n],
  ] as const) {
    const { parts, request, asks } = desk(recount, granted)
    const caller = { ...SAMPLE_CALLER, whenTight }
    const admission = await admit(
      parts,
      request({ caller, candidates: () => [candidate(target, { searchesMax: 3 })] }),
    )
    assert.equal(admission.maySearch, maySearch)
    const read = searches === 0n ? BigInt(textsBound) : BigInt(target.context) * (searches + 1n)
    assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, read * 1_000n)
  }
})

test('a recount for the sake of a later target leaves the first its searches', async () => {
  const { parts, request, asks } = desk({ ...recount, isFirstFit: true } as Refused, granted)
  const candidates = () => [candidate(target, { searchesMax: 3 }), candidate(dear)]
  assert.equal((await admit(parts, request({ candidates }))).maySearch, true)
  assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, BigInt(target.context) * 4n * 1_000n)
})

const dear = targetOf('dear', 9_000n)

test('every target it may go to is asked for, in order, each at its own price', async () => {
  const { parts, request, asks } = desk({ ...granted, grants: ['budget', GRANT] })
  const candidates = () => [candidate(dear), candidate(target, { outputTokensMax: 100 })]
  const { outputTokensMax } = await admit(parts, request({ candidates }))
  assert.deepEqual(
    asks[0]?.candidates.map((each) => [
      each.fixedPicodollars,
      each.outputTokenPicodollars,
      each.outputTokens,
    ]),
    [
      [BigInt(bytesBound) * 9_000n, 18_000n, 500],
      [BigInt(bytesBound) * 1_000n, 2_000n, 100],
    ],
  )
  assert.equal(outputTokensMax, 700)
})

const GRANT = { outputTokens: 700, capped: false }

test('nothing is counted when every target it may go to knows its exact input', async () => {
  const { parts, request, asks } = desk(granted, granted)
  const exact = candidate(target, { inputTokens: 2_000 })
  await admit(parts, request({ candidates: () => [exact] }))
  await admit(parts, request({ candidates: () => [exact, candidate(dear)] }))
  const [first, other] = asks
  assert.deepEqual([first?.recounted, first?.estimatedTokens], [true, 2_000])
  assert.equal(first?.candidates[0]?.fixedPicodollars, 2_000_000n)
  assert.equal(other?.recounted, false)
})

test('a test key pays nothing, but has the limits of a live key', async () => {
  const { parts, request, asks } = desk(granted)
  const candidates = () => [candidate(target, { inputTokens: 1 }), candidate(dear)]
  await admit(parts, request({ caller: { ...SAMPLE_CALLER, mode: 'test' }, candidates }))
  const [only, ...others] = asks[0]?.candidates ?? []
  assert.partialDeepStrictEqual(only, {
    fixedPicodollars: 0n,
    outputTokenPicodollars: 0n,
    outputTokens: 500,
  })
  assert.deepEqual([others, asks[0]?.recounted], [[], false])
})

test('a bound that fell short is raised, whether it came from bytes or from a count', async () => {
  const { parts, request } = desk(granted, recount, granted)
  parts.raisedBounds.raise(target, { basis: 'count', from: 1, times: 1.001 })
  assert.equal((await admit(parts, request())).inputTokens, bytesBound)
  assert.equal((await admit(parts, request())).inputTokens, Math.ceil(textsBound * 1.001))
  const again = desk(granted)
  again.parts.raisedBounds.raise(target, { basis: 'bytes', from: 1, times: 2 })
  assert.equal((await admit(again.parts, again.request())).inputTokens, bytesBound * 2)
})

test('a refusal reports the limits, is counted and is thrown', async () => {
  const { parts, request, happened } = desk(recount, paused)
  await assert.rejects(admit(parts, request()), { code: 'paused_api_key' })
  assert.deepEqual(happened.slice(-2), ['limits told', 'refused key_1 m'])
})

test('an unavailable ledger reports no limits', async () => {
  const { parts, request, happened } = desk({ reserved: false, reason: 'unavailable' })
  await assert.rejects(admit(parts, request()), { code: 'ledger_unavailable' })
  assert.deepEqual(happened, ['reserve', 'refused key_1 m'])
})

test('a client that has left is not counted as refused', async () => {
  const { parts, request, happened } = desk(paused)
  const closed = AbortSignal.abort()
  await assert.rejects(admit(parts, request({ closed })), { name: 'AbortError' })
  assert.equal(
    happened.some((what) => what.startsWith('refused')),
    false,
  )
})

test('a forecast of a call that does not fit reports the amount the ledger required', async () => {
  const shortage: Shortage = {
    candidate: 0,
    scope: 'key',
    limitNanodollars: 0n,
    spentNanodollars: 0n,
    heldNanodollars: 0n,
    requiredNanodollars: 7n,
    affordableOutputTokens: null,
    resetsAt: null,
  }
  const { parts, request } = desk({ reserved: false, reason: 'budget', shortage, balances })
  assert.equal((await forecast(parts, request())).worstCaseNanodollars, 7n)
})

test('a forecast takes the same steps as admission, and leaves no trace', async () => {
  const { parts, request, happened } = desk(recount, paused)
  const { outcome, worstCaseNanodollars } = await forecast(parts, request())
  assert.equal(worstCaseNanodollars, BigInt(textsBound + 2 * 500))
  assert.equal('code' in outcome && outcome.code, 'paused_api_key')
  assert.deepEqual(happened, ['dry run', 'provider asked', 'texts counted', 'dry run'])
})
