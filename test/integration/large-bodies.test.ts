// Four times the size takes about four times the work, whatever a body contains and in every pass over it: the serving
// thread does nothing else meanwhile. Measured in processor time, pass by pass, because a long one would hide a quadratic
// one beside it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamFormat } from '../../src/core/endpoints.ts'
import { EMBEDDING_FORMATS } from '../../src/core/endpoints.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { inDialect, leftOutIn } from '../../src/wire/chat/dialects.ts'
import { CODECS, UPSTREAM_CODECS } from '../../src/wire/codecs.ts'
import { textsOf } from '../../src/wire/contract/measure.ts'
import { readJsonBody } from '../../src/wire/json/body.ts'
import { exactly } from '../../src/wire/json/exact.ts'
import { lossesOf } from '../../src/wire/contract/losses.ts'
import type { WorstBody } from '../support/worst-bodies.ts'
import { worstBodies } from '../support/worst-bodies.ts'

const UPSTREAM: readonly UpstreamFormat[] = ['chat', 'responses', 'messages', 'gemini', 'converse']

const SMALL = 2_500
const GROWTH = 4
/** Linear work is as much as that of the small bodies together, quadratic work four times as much. */
const RATIO_MAX = 2.2
/** What takes less is lost among collections of garbage and compilations. */
const MS_NOTICED = 20
/** Chance does not explain this much. */
const MS_HOPELESS = 500
/** A pass is measured again this often before it counts as too slow. */
const ROUNDS = 8
/** What looked too slow is looked at once more in bodies this much larger, where less is left to chance. */
const CLOSER_LOOK = 4

for (const body of worstBodies())
  test(`${body.format}: ${body.list} take linear time`, async () => {
    const suspects = await slowPasses(body, SMALL)
    if (suspects.size === 0) return
    const convicted = await slowPasses(body, CLOSER_LOOK * SMALL, [...suspects.keys()])
    assert.deepEqual([...convicted.values()], [])
  })

/** What takes more than linear time between bodies of this size and larger ones, by the name of the pass. */
async function slowPasses(
  body: WorstBody,
  size: number,
  names?: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const small = passesOver(body, size)
  const large = passesOver(body, GROWTH * size)
  const slow = new Map<string, string>()
  for (const name of names ?? large.keys()) {
    const [some, many] = [small.get(name), large.get(name)]
    assert.ok(some !== undefined && many !== undefined, name)
    const excess = await excessOf(some, many)
    if (excess !== undefined) slow.set(name, `${name}: ${excess}`)
  }
  return slow
}

type Pass = () => unknown

/** In words, by how much this is more than linear; undefined if it is not. */
async function excessOf(small: Pass, large: Pass): Promise<string | undefined> {
  let smallMs = Infinity
  let largeMs = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    largeMs = Math.min(largeMs, await msOf(large, 1))
    if (largeMs < MS_NOTICED) return undefined
    smallMs = Math.min(smallMs, await msOf(small, GROWTH))
    if (largeMs < RATIO_MAX * smallMs) return undefined
    if (largeMs > MS_HOPELESS) break
  }
  const [one, other] = [largeMs.toFixed(1), smallMs.toFixed(1)]
  return `${one} ms, and ${other} ms for ${GROWTH} bodies of a quarter of the size`
}

/**
 * By the processor time of the whole process, because some systems count that of a thread in steps of milliseconds. The
 * results are kept until the end, so that both sizes have as much to collect.
 */
async function msOf(pass: Pass, times: number): Promise<number> {
  const started = process.cpuUsage()
  const results: unknown[] = []
  for (let time = 0; time < times; time++) results.push(await pass())
  const { user, system } = process.cpuUsage(started)
  assert.equal(results.length, times)
  return (user + system) / 1000
}

const DIALECTS = ['original', 'openrouter', 'mistral'] as const

/** What the gateway may do with a body, by name: each reads all of it. A refusal counts, too. */
function passesOver({ format, make }: WorstBody, count: number): ReadonlyMap<string, Pass> {
  const text = JSON.stringify(make(count))
  const bytes = Buffer.from(text)
  const value = JSON.parse(text) as JsonObject
  const codec = CODECS[format]
  const body = { bytes, value, members: membersOf(bytes) }
  const passes = new Map<string, Pass>([
    ['reading', () => readJsonBody(bytes)],
    ['measuring', () => codec.readCall(value)],
    ['collecting texts', () => textsOf(codec.readCall, value)],
    ['finding its conversation', () => codec.affinityOf(value)],
    ['forwarding', () => codec.forwardRequest(body, { model: 'other' })],
    ...DIALECTS.map((dialect): [string, Pass] => [
      `forwarding to ${dialect}`,
      () =>
        codec.forwardRequest(body, {
          model: 'other',
          adapt: (given) => inDialect(given, { dialect, format }),
        }),
    ]),
    ['forgetting thoughts', () => codec.withoutReasoning?.(value)],
    ['exact numbers', () => exactly(bytes.toString(), value)],
    ['decoding', () => codec.decodeRequest(value)],
  ])
  const request = unlessRefused(() => codec.decodeRequest(value))
  for (const upstream of format === 'embeddings' ? EMBEDDING_FORMATS : UPSTREAM) {
    const { encodeRequest, losses } = UPSTREAM_CODECS[upstream]
    const encode = (): JsonObject | undefined =>
      request && unlessRefused(() => encodeRequest({ ...request, model: 'other' }))
    const encoded = encode()
    passes.set(`what ${upstream} loses`, () => {
      if (request !== undefined) lossesOf(request, format, { losses, model: 'other' })
    })
    passes.set(`encoding for ${upstream}`, encode)
    if (encoded === undefined) continue
    passes.set(`writing for ${upstream}`, () => JSON.stringify(encoded))
    if (upstream !== 'chat' && upstream !== 'embeddings') continue
    for (const dialect of DIALECTS) {
      const spoken = { dialect, format: upstream }
      passes.set(`${upstream} for ${dialect}`, () => inDialect(encoded, spoken))
      passes.set(`left out of ${upstream} for ${dialect}`, () => leftOutIn(encoded, spoken))
    }
  }
  return new Map([...passes].map(([name, pass]) => [name, () => unlessRefused(pass)] as const))
}

/** Where the members are; none if the body is refused, which is for the pass that reads it to measure. */
function membersOf(bytes: Buffer) {
  return unlessRefused(() => readJsonBody(bytes).members) ?? new Map<string, never>()
}

function unlessRefused<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'GatewayError') return undefined
    throw thrown
  }
}
