// What is remembered of calls that were refused: who was turned away, with which code, and what was lacking. A refusal must
// cost next to nothing, so it is counted in memory, the first of each key, code and hour with a row, and written in batches.
import type { Clock } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { parseUsd, type Nanodollars } from '../core/money.ts'
import { line } from '../core/text.ts'
import { HOUR_MS } from '../core/units.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { NO_KEY, ROWS_AN_HOUR_MAX, type NewRefusal, type Refusals } from '../store/refusals.ts'
import { describeError, redact, type Log } from '../telemetry/log.ts'
import type { Trace } from '../telemetry/trace.ts'

/** Who called, as far as that is kept. */
export type Client = {
  readonly userAgent: string | undefined
  readonly address: string | null
}

type RefusedCall = {
  readonly error: GatewayError
  readonly trace: Trace
  /** Asked only for a call that gets a row. */
  readonly client: () => Client
}

type RecordParts = {
  readonly clock: Clock
  readonly log: Log
  /** Counts refusals of a key for the reports. */
  readonly ledger: Pick<Ledger, 'countRefused'>
  readonly keepMs: number
  readonly write: (refusals: readonly Refusals[]) => Promise<void>
  /** Deletes some of what is older; true when there may be more. */
  readonly purge: (olderThan: number) => Promise<boolean>
}

const WRITE_EVERY_MS = 2_000
const PURGE_EVERY_MS = 10 * 60_000
const PURGE_PAGES_MAX = 20
/** In one transaction, so that nobody waits long for it. */
const WRITTEN_AT_ONCE = 500
/** While the database is away, further rows are only counted, and further keys forgotten. */
const ROWS_WAITING_MAX = 10_000
const BUCKETS_MAX = 20_000

type Bucket = Pick<Refusals, 'keyId' | 'groupId' | 'code' | 'startsAt'> & {
  /** How many rows it has had so far. */
  noted: number
  /** What is not written yet. */
  count: number
  rows: NewRefusal[]
}

export class RefusalRecord {
  readonly #parts: RecordParts
  readonly #timer: NodeJS.Timeout
  /** Of the hour that `#startsAt` begins, by key, group and code. */
  #buckets = new Map<string, Bucket>()
  #startsAt = 0
  /** Those with something to write, also of the hour before. */
  readonly #waiting = new Set<Bucket>()
  #rowsWaiting = 0
  #forgotten = 0
  #purgedMs: number
  #writing: Promise<void> | undefined
  /** Whether the last attempt failed: an outage is logged once. */
  #isDelayed = false

  constructor(parts: RecordParts) {
    this.#parts = parts
    this.#purgedMs = parts.clock.monotonicMs() - PURGE_EVERY_MS
    this.#timer = setInterval(() => void this.flush(), WRITE_EVERY_MS)
    this.#timer.unref()
  }

  /** Takes only what Tollgate refused before anything was held: everything else is in the books. */
  note(call: RefusedCall): void {
    const { error, trace } = call
    if (!error.isRefusal || trace.costUsd !== undefined) return
    const keyId = trace.keyId ?? NO_KEY
    // A name that the client made up is no group of a report.
    if (keyId !== NO_KEY) this.#parts.ledger.countRefused(refusedOf(trace, keyId))
    const at = this.#parts.clock.now()
    const groupId = trace.groupId ?? ''
    const bucket = this.#bucketOf({ keyId, groupId, code: error.code }, at)
    if (bucket === undefined) return
    bucket.count += 1
    this.#waiting.add(bucket)
    if (bucket.noted >= ROWS_AN_HOUR_MAX || this.#rowsWaiting >= ROWS_WAITING_MAX) return
    bucket.noted += 1
    this.#rowsWaiting += 1
    bucket.rows.push(rowOf(call, keyId, at))
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.flush()
  }

  /** Writes what is waiting. One at a time: an outage must not pile up attempts. */
  flush(): Promise<void> {
    this.#writing ??= this.#flush()
      .then(() => {
        this.#isDelayed = false
      })
      .catch((thrown: unknown) => {
        const { log } = this.#parts
        if (!this.#isDelayed) log.warn('refusals_delayed', { cause: describeError(thrown) })
        this.#isDelayed = true
      })
      .finally(() => {
        this.#writing = undefined
      })
    return this.#writing
  }

  /** Undefined: there are too many already. */
  #bucketOf(of: Pick<Bucket, 'keyId' | 'groupId' | 'code'>, at: number): Bucket | undefined {
    const startsAt = at - (at % HOUR_MS)
    if (startsAt !== this.#startsAt) {
      this.#startsAt = startsAt
      this.#buckets = new Map()
    }
    const name = `${of.keyId} ${of.code} ${of.groupId}`
    const known = this.#buckets.get(name)
    if (known !== undefined) return known
    if (this.#buckets.size >= BUCKETS_MAX || this.#waiting.size >= BUCKETS_MAX) {
      this.#forgotten += 1
      return undefined
    }
    const bucket = { ...of, startsAt, noted: 0, count: 0, rows: [] }
    this.#buckets.set(name, bucket)
    return bucket
  }

  async #flush(): Promise<void> {
    for (const some of batches([...this.#waiting])) {
      const taken = some.map((bucket) => ({ ...bucket, rows: [...bucket.rows] }))
      await this.#parts.write(taken)
      for (const [index, bucket] of some.entries()) this.#written(bucket, taken[index])
    }
    if (this.#forgotten > 0) this.#parts.log.warn('refusals_forgotten', { count: this.#forgotten })
    this.#forgotten = 0
    await this.#purge()
  }

  #written(bucket: Bucket, { count, rows }: Refusals = bucket): void {
    bucket.count -= count
    bucket.rows.splice(0, rows.length)
    this.#rowsWaiting -= rows.length
    if (bucket.count === 0) this.#waiting.delete(bucket)
  }

  async #purge(): Promise<void> {
    const { clock, keepMs, purge } = this.#parts
    if (clock.monotonicMs() - this.#purgedMs < PURGE_EVERY_MS) return
    this.#purgedMs = clock.monotonicMs()
    for (let page = 0; page < PURGE_PAGES_MAX; page++) {
      if (!(await purge(clock.now() - keepMs))) return
    }
  }
}

/** What the reports group it by. */
function refusedOf({ groupId = null, endpoint = 'models', model = '' }: Trace, keyId: string) {
  return { keyId, groupId, endpoint, modelAsked: model }
}

function* batches(buckets: readonly Bucket[]): Iterable<readonly Bucket[]> {
  let batch: Bucket[] = []
  let size = 0
  for (const bucket of buckets) {
    if (size > 0 && size + bucket.rows.length + 1 > WRITTEN_AT_ONCE) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(bucket)
    size += bucket.rows.length + 1
  }
  if (size > 0) yield batch
}

function rowOf({ error, trace, client }: RefusedCall, keyId: string, at: number): NewRefusal {
  const { modelAsked = trace.model, masked = null, facts = {} } = error.details
  const { userAgent, address } = client()
  return {
    requestId: trace.requestId,
    keyId,
    groupId: trace.groupId ?? '',
    masked: keyId === NO_KEY ? masked : null,
    code: error.code,
    scope: textOf(facts['scope']),
    period: textOf(facts['period']),
    endpoint: trace.endpoint ?? null,
    modelAsked: kept(modelAsked),
    requiredNanodollars: amountOf(facts['required']),
    remainingNanodollars: remainingOf(facts),
    userAgent: kept(userAgent),
    address,
    createdAt: at,
  }
}

const CHARACTERS_KEPT = 200
/** Far more than is kept: what is cut here was no secret whose rest is kept. */
const CHARACTERS_READ = 20 * CHARACTERS_KEPT

/** What a client wrote, in one line, without what looks like a secret. */
function kept(text: string | undefined): string | null {
  if (text === undefined) return null
  return line(redact(text.slice(0, CHARACTERS_READ)))
    .slice(0, CHARACTERS_KEPT)
    .toWellFormed()
}

function textOf(fact: unknown): string | null {
  return typeof fact === 'string' ? fact : null
}

function amountOf(fact: unknown): Nanodollars | null {
  return typeof fact === 'string' ? parseUsd(fact) : null
}

/** What was neither spent nor held. A rate limit has a name there, and no amount. */
function remainingOf({ limit, spent, held }: JsonObject): Nanodollars | null {
  if (typeof limit !== 'string' || typeof spent !== 'string' || typeof held !== 'string')
    return null
  const left = parseUsd(limit) - parseUsd(spent) - parseUsd(held)
  return left > 0n ? left : 0n
}
