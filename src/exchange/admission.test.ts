// What is asked of the ledger for a request: by its bytes first, by its tokens where that does not fit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CALLER } from '../../test/samples/caller.ts'
import { sampleBalances } from '../../test/samples/ledger-rows.ts'
import {
  SAMPLE_INBOUND,
  SAMPLE_OUTBOUND,
  SAMPLE_PROVIDER,
  SAMPLE_ROUTE,
  SAMPLE_TARGET,
  sampleReply,
} from '../../test/samples/exchange.ts'
import type { Caller } from '../access/authenticate.ts'
import { RaisedBounds } from '../catalog/worst-case.ts'
import { Tokenizer } from '../access/tokenizer.ts'
import { type Model, type Target, UNKNOWN_ABILITIES } from '../catalog/models.ts'
import { FREE, makePrice } from '../catalog/prices.ts'
import { countedBound, inputBound, likelyInput, recountedBound } from '../catalog/worst-case.ts'
import { formatUsd } from '../core/money.ts'
import { NO_INPUT, type Call, type InputMeasure } from '../core/request.ts'
import type { Ask, Ledger, Refused, Reserved, Shortage } from '../ledger/ledger.ts'
import { admit, dryRun, type AdmissionInput } from './admission.ts'
import type { OutboundRequest } from './prepare.ts'

const INPUT: InputMeasure = { ...NO_INPUT, textBytes: 3_000, items: 1 }
const COUNT = { likely: 100, most: 200 }

function targetOf(name: string, input: bigint): Target {
  const price = makePrice({ ...FREE, rates: { ...FREE.rates, input, output: 2n * input } })
  return { ...SAMPLE_TARGET, name: `local/${name}`, model: name, price }
}

const target = targetOf('m', 1_000n)

function outboundTo(at: Target, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { ...SAMPLE_OUTBOUND, route: { ...SAMPLE_ROUTE, target: at }, ...more }
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

const left = { ...sampleBalances().key, remainingNanodollars: 1n }
const balances = sampleBalances({ key: left, frame: left })
const granted: Reserved = {
  reserved: true,
  holdId: 1,
  groupId: null,
  amountNanodollars: 1n,
  outputTokens: 500,
  capped: false,
  waitedMs: 0,
  balances,
}
const recount = { reserved: false, reason: 'recount', isFirstFit: false } as Refused
const paused = { reserved: false, reason: 'key_status', status: 'paused', balances } as Refused

class CountingTokenizer extends Tokenizer {
  readonly #happened: string[]

  constructor(happened: string[]) {
    super()
    this.#happened = happened
  }

  override async count() {
    this.#happened.push('texts counted')
    return COUNT
  }
}

type Given = {
  readonly caller?: Caller
  readonly call?: Call
  readonly prepared?: readonly OutboundRequest[]
  /** What the provider counts. */
  readonly told?: number
  readonly closed?: AbortSignal
}

/** A ledger that answers as told, and what becomes of it. */
function setUp(...answers: readonly (Reserved | Refused)[]) {
  const asks: Ask[] = []
  const happened: string[] = []
  const answer = (how: string) => async (ask: Ask) => {
    happened.push(how)
    asks.push(ask)
    return answers[asks.length - 1] ?? assert.fail('the ledger is asked too often')
  }
  const ledger: Pick<Ledger, 'reserve' | 'dryRun'> = {
    reserve: answer('reserve'),
    dryRun: answer('dry run'),
  }
  const parts = {
    clock: { now: () => 0, monotonicMs: () => 0 },
    ledger: ledger as Ledger,
    tokenizer: new CountingTokenizer(happened),
    raisedBounds: new RaisedBounds(),
    overload: { begin: () => 0, end: () => {} },
  }
  const asked = (given: Given = {}): AdmissionInput => {
    const { caller = SAMPLE_CALLER, call = callOf(INPUT), prepared = [outboundTo(target)] } = given
    const provider = {
      ...SAMPLE_PROVIDER,
      countTokens: async () => {
        happened.push('provider asked')
        return given.told
      },
    }
    return {
      request: {
        inbound: { ...SAMPLE_INBOUND, caller },
        call,
        texts: () => ['a text'],
        nextStep: async () => {},
      },
      model,
      prepared: prepared.map((each) => ({ ...each, route: { ...each.route, provider } })),
      reply: sampleReply({
        setHeader: () => void happened.push('limits told'),
        ...(given.closed && { closed: given.closed }),
      }),
    }
  }
  return { parts, asked, asks, happened }
}

function callOf(input: InputMeasure): Call {
  const output = { choices: 1, reasons: false, tokensMax: 500 }
  return { model: 'm', stream: false, input, output, needs: [], dropped: [] }
}

test('a request that fits is reserved at once, bounded by its bytes and estimated at its likely tokens', async () => {
  const { parts, asked, asks, happened } = setUp(granted)
  const admission = await admit(parts, asked())
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
  const { parts, asked } = setUp({ ...granted, outputTokens: 0 })
  assert.equal((await admit(parts, asked())).outputTokensMax, undefined)
})

test('a request that does not fit is counted and reserved again', async () => {
  const { parts, asked, asks, happened } = setUp(recount, granted)
  const { inputTokens, basis } = await admit(parts, asked())
  assert.deepEqual(happened, ['reserve', 'provider asked', 'texts counted', 'reserve'])
  assert.deepEqual([inputTokens, basis], [textsBound, 'count'])
  assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, BigInt(textsBound) * 1_000n)
  assert.equal(asks[1]?.estimatedTokens, likelyInput(INPUT, COUNT.likely))
  assert.equal(asks[1]?.recounted, true)
})

test('a provider’s own count is preferred to ours', async () => {
  const { parts, asked } = setUp(recount, granted)
  const { inputTokens } = await admit(parts, asked({ told: 40 }))
  assert.equal(inputTokens, countedBound(40))
})

test('a count that cannot bound the input is skipped, and the bound stays', async () => {
  for (const [more, counted] of [
    [{ unbounded: true }, 'provider asked'],
    [{ fetched: true }, 'texts counted'],
  ] as const) {
    const { parts, asked, asks, happened } = setUp(recount, granted)
    await admit(parts, asked({ call: callOf({ ...INPUT, ...more }) }))
    assert.deepEqual(happened, ['reserve', counted, 'reserve'])
    if ('unbounded' in more) assert.equal(asks[1]?.estimatedTokens, target.context)
  }
})

test('a count that bounds no better is ignored', async () => {
  const { parts, asked } = setUp(recount, granted)
  const { inputTokens, basis } = await admit(parts, asked({ told: 9_999 }))
  assert.deepEqual([inputTokens, basis], [bytesBound, 'bytes'])
})

test('searches are dropped when the budget is tight, unless the key refuses instead', async () => {
  for (const [whenTight, maySearch, searches] of [
    ['cap', false, 0n],
    ['refuse', true, 3n],
  ] as const) {
    const { parts, asked, asks } = setUp(recount, granted)
    const caller = { ...SAMPLE_CALLER, whenTight }
    const admission = await admit(
      parts,
      asked({ caller, prepared: [outboundTo(target, { searchesMax: 3 })] }),
    )
    assert.equal(admission.maySearch, maySearch)
    const read = searches === 0n ? BigInt(textsBound) : BigInt(target.context) * (searches + 1n)
    assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, read * 1_000n)
  }
})

test('a recount for the sake of a later target leaves the first its searches', async () => {
  const { parts, asked, asks } = setUp({ ...recount, isFirstFit: true } as Refused, granted)
  const prepared = [outboundTo(target, { searchesMax: 3 }), outboundTo(dear)]
  assert.equal((await admit(parts, asked({ prepared }))).maySearch, true)
  assert.equal(asks[1]?.candidates[0]?.fixedPicodollars, BigInt(target.context) * 4n * 1_000n)
})

const dear = targetOf('dear', 9_000n)

test('every target it may go to is asked for, in order, each at its own price', async () => {
  const { parts, asked, asks } = setUp({ ...granted, grants: ['budget', GRANT] })
  const prepared = [outboundTo(dear), outboundTo(target, { outputTokensMax: 100 })]
  const { outputTokensMax } = await admit(parts, asked({ prepared }))
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
  const { parts, asked, asks } = setUp(granted, granted)
  const exact = outboundTo(target, { inputTokens: 2_000 })
  await admit(parts, asked({ prepared: [exact] }))
  await admit(parts, asked({ prepared: [exact, outboundTo(dear)] }))
  const [first, other] = asks
  assert.deepEqual([first?.recounted, first?.estimatedTokens], [true, 2_000])
  assert.equal(first?.candidates[0]?.fixedPicodollars, 2_000_000n)
  assert.equal(other?.recounted, false)
})

test('a test key pays nothing, but has the limits of a live key', async () => {
  const { parts, asked, asks } = setUp(granted)
  const prepared = [outboundTo(target, { inputTokens: 1 }), outboundTo(dear)]
  await admit(parts, asked({ caller: { ...SAMPLE_CALLER, mode: 'test' }, prepared }))
  const [only, ...others] = asks[0]?.candidates ?? []
  assert.partialDeepStrictEqual(only, {
    fixedPicodollars: 0n,
    outputTokenPicodollars: 0n,
    outputTokens: 500,
  })
  assert.deepEqual([others, asks[0]?.recounted], [[], false])
})

test('a bound that fell short is raised, whether it came from bytes or from a count', async () => {
  const { parts, asked } = setUp(granted, recount, granted)
  parts.raisedBounds.raise(target, { basis: 'count', from: 1, times: 1.001 })
  assert.equal((await admit(parts, asked())).inputTokens, bytesBound)
  assert.equal((await admit(parts, asked())).inputTokens, Math.ceil(textsBound * 1.001))
  const again = setUp(granted)
  again.parts.raisedBounds.raise(target, { basis: 'bytes', from: 1, times: 2 })
  assert.equal((await admit(again.parts, again.asked())).inputTokens, bytesBound * 2)
})

test('a refusal reports the limits and is thrown', async () => {
  const { parts, asked, happened } = setUp(recount, paused)
  await assert.rejects(admit(parts, asked()), { code: 'paused_api_key' })
  assert.equal(happened.at(-1), 'limits told')
})

test('an unavailable ledger reports no limits', async () => {
  const { parts, asked, happened } = setUp({ reserved: false, reason: 'unavailable' })
  await assert.rejects(admit(parts, asked()), { code: 'ledger_unavailable' })
  assert.deepEqual(happened, ['reserve'])
})

test('a client that has left is not refused', async () => {
  const { parts, asked } = setUp(paused)
  const closed = AbortSignal.abort()
  await assert.rejects(admit(parts, asked({ closed })), { name: 'AbortError' })
})

test('a dry run of a call that does not fit reports the amount the ledger required', async () => {
  const shortage: Shortage = {
    candidate: 0,
    scope: 'key',
    period: 'month',
    limitNanodollars: 0n,
    spentNanodollars: 0n,
    heldNanodollars: 0n,
    requiredNanodollars: 7n,
    affordableOutputTokens: null,
    resetsAt: null,
    also: [],
  }
  const { parts, asked } = setUp({ reserved: false, reason: 'budget', shortage, balances })
  assert.equal((await dryRun(parts, asked()))['worst_case'], '0.000000007')
})

test('a dry run takes the same steps as admission, and leaves no trace', async () => {
  const { parts, asked, happened } = setUp(recount, paused)
  const { worst_case, code } = await dryRun(parts, asked())
  assert.equal(worst_case, formatUsd(BigInt(textsBound + 2 * 500)))
  assert.equal(code, 'paused_api_key')
  assert.deepEqual(happened, ['dry run', 'provider asked', 'texts counted', 'dry run'])
})
