// What /metrics reports: the one table of it by name, which docs/operating/watch.md is tested against, and what this process
// has counted. Label values come from the configuration or the code, never from a client.
import { ERROR_CODES } from '../core/errors.ts'
import type { RequestOutcome, Trace } from './trace.ts'

/** How the figures of several processes become one. */
type Joining = 'sum' | 'min' | 'first'

type Metric = {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** Unset = a sum. */
  readonly joined?: Joining
}

export const METRICS = {
  build: {
    ...gauge('tollgate_build_info', ['version'], 'Always 1; the label is the running version'),
    joined: 'first',
  },
  processes: gauge('tollgate_processes', [], 'Serving processes that these figures add up'),
  requests: counter(
    'tollgate_requests_total',
    ['endpoint', 'model', 'status'],
    'Requests below /v1 that have ended; status 499: the client left',
  ),
  inFlight: gauge('tollgate_requests_in_flight', [], 'Requests below /v1 that are being served'),
  waiting: gauge('tollgate_requests_waiting', [], 'Requests that wait for their holds'),
  overloaded: gauge(
    'tollgate_overloaded',
    [],
    'How many processes turn requests away, because they have more than they can serve',
  ),
  errors: counter(
    'tollgate_errors_total',
    ['code'],
    'Requests below /v1 that ended with an error, by its code',
  ),
  keyRequests: counter(
    'tollgate_key_requests_total',
    ['key', 'group'],
    'Requests below /v1 that have ended, by the id of their key and of its group; other: further ones',
  ),
  keyRefused: counter(
    'tollgate_key_refused_total',
    ['key', 'group'],
    'Those of them that were refused with 401, 402, 403 or 429',
  ),
  duration: histogram(
    'tollgate_request_duration_seconds',
    ['endpoint'],
    'Duration of requests, from their head to the last byte of the answer',
  ),
  firstToken: histogram(
    'tollgate_first_token_seconds',
    ['model'],
    'Time from the head of a streamed request to the first output of the model',
  ),
  attempts: counter(
    'tollgate_attempts_total',
    ['target', 'outcome'],
    'Calls to targets, by outcome: answered, given up, or the code of an error',
  ),
  standing: gauge(
    'tollgate_target_standing',
    ['target', 'standing'],
    'How many processes see a target answering, failing, resting or uncalled',
  ),
  commits: histogram(
    'tollgate_ledger_commit_seconds',
    [],
    'How long the database took to commit a batch of the ledger',
  ),
  alarms: counter(
    'tollgate_ledger_alarms_total',
    [],
    'Alarms of the ledger, each with a line ledger_alarm in the log',
  ),
  writable: {
    ...gauge(
      'tollgate_ledger_writable',
      [],
      '1 while the ledger can write to the database; 0: calls are refused',
    ),
    joined: 'min',
  },
  readable: gauge(
    'tollgate_ledger_readable',
    [],
    '1 when the database answered this scrape; 0: figures from the books are left out',
  ),
  limit: gauge('tollgate_frame_limit_usd', [], 'What the frame lets all keys spend in this period'),
  spent: gauge(
    'tollgate_frame_spent_usd',
    [],
    'What all keys have spent in this period of the frame',
  ),
  held: gauge('tollgate_frame_held_usd', [], 'What is held for requests in flight'),
  remaining: gauge(
    'tollgate_frame_remaining_usd',
    [],
    'What is neither spent nor held in this period of the frame',
  ),
  keySpent: gauge(
    'tollgate_key_spent_usd',
    ['key', 'group', 'name'],
    'What a key has spent in this period of the frame; other: what further keys have',
  ),
  keyRemaining: gauge(
    'tollgate_key_remaining_usd',
    ['key', 'group', 'name'],
    'What is left of the tightest budget of its own that a key has, if it has one',
  ),
  groupSpent: gauge(
    'tollgate_group_spent_usd',
    ['group', 'name'],
    'What a group has spent in its period; other: what further groups have',
  ),
  groupRemaining: gauge(
    'tollgate_group_remaining_usd',
    ['group', 'name'],
    'What is left of the tightest budget that a group has, if it has one',
  ),
  keys: gauge('tollgate_keys', ['status'], 'Keys, by status'),
  tokens: counter(
    'tollgate_tokens_total',
    ['model', 'kind'],
    'Tokens in the books; cached and cache_write are parts of input, reasoning is a part of output',
  ),
  cost: gauge(
    'tollgate_cost_usd',
    ['model'],
    'What all requests in the books cost; a correction can lower it',
  ),
} as const satisfies Readonly<Record<string, Metric>>

function gauge(name: string, labels: readonly string[], help: string): Metric {
  return { name, type: 'gauge', labels, help }
}

function counter(name: string, labels: readonly string[], help: string): Metric {
  return { ...gauge(name, labels, help), type: 'counter' }
}

function histogram(name: string, labels: readonly string[], help: string): Metric {
  return { ...gauge(name, labels, help), type: 'histogram' }
}

type Label = string | number

/** A metric's values from one process, or from the books: plain data that can be sent between processes. */
export type Figure = {
  readonly name: string
  readonly help: string
  readonly type: Metric['type']
  readonly aggregator: Joining
  readonly values: readonly Sample[]
}

type Sample = {
  readonly labels: Readonly<Record<string, Label>>
  readonly value: number
  /** For a histogram: one of its several names. */
  readonly metricName?: string
}

/** A metric with a value for each combination of labels, in the order of its table entry. */
export function figureOf(
  metric: Metric,
  values: Iterable<readonly [labels: readonly Label[], value: number]>,
): Figure {
  return figureWith(
    metric,
    Array.from(values, ([labels, value]) => ({ labels: labelsOf(metric, labels), value })),
  )
}

function figureWith(metric: Metric, values: readonly Sample[]): Figure {
  const { name, type, help, joined = 'sum' } = metric
  return { name, type, help, aggregator: joined, values }
}

function labelsOf({ labels }: Metric, values: readonly Label[]): Record<string, Label> {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}

/** A list of models takes milliseconds, a long answer minutes. */
const DURATION_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const FIRST_TOKEN_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const COMMIT_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/**
 * What this process has counted since its start. On the path of every request, so it joins no strings, and makes no
 * objects for what it has counted before; its figures are made only when requested (docs/decisions/0011).
 */
export class Counts {
  #inFlight = 0
  readonly #requests = new Counter(METRICS.requests)
  readonly #errors = new Counter(METRICS.errors)
  readonly #keyRequests = new Counter(METRICS.keyRequests)
  readonly #keyRefused = new Counter(METRICS.keyRefused)
  readonly #keys: Names
  readonly #groups: Names
  readonly #durations = new Histogram(METRICS.duration, DURATION_BOUNDS)
  readonly #firstTokens = new Histogram(METRICS.firstToken, FIRST_TOKEN_BOUNDS)
  readonly #attempts = new Counter(METRICS.attempts)
  readonly #commits = new Histogram(METRICS.commits, COMMIT_BOUNDS)
  #alarms = 0

  /** Of so many keys and groups the requests are counted apart. */
  constructor(keysMax = KEYS_MAX) {
    this.#keys = new Names(keysMax)
    this.#groups = new Names(keysMax)
    // A counter that appears only with its first error shows no rise from 0 to 1.
    for (const code of ERROR_CODES) this.#errors.begin(code)
  }

  requestBegan(): void {
    this.#inFlight += 1
  }

  requestEnded(trace: Trace, { status, durationMs, error }: RequestOutcome): void {
    const { endpoint = '', model = '', stream, firstTokenMs, attempts, keyId } = trace
    this.#inFlight -= 1
    this.#requests.add(endpoint, model, status)
    if (error !== undefined) this.#errors.add(error.code)
    if (keyId !== undefined) {
      const key = this.#keys.shown(keyId)
      const group = this.#groups.shown(trace.groupId ?? '')
      this.#keyRequests.add(key, group)
      if (error?.isRefusal === true) this.#keyRefused.add(key, group)
    }
    if (endpoint !== '') this.#durations.observe(durationMs, endpoint)
    if (stream === true && firstTokenMs !== undefined)
      this.#firstTokens.observe(firstTokenMs, model)
    if (attempts === undefined) return
    for (const { target, outcome } of attempts) this.#attempts.add(target, outcome)
  }

  committed(durationMs: number): void {
    this.#commits.observe(durationMs, '')
  }

  alarmed(): void {
    this.#alarms += 1
  }

  figures(): readonly Figure[] {
    return [
      figureOf(METRICS.processes, [[[], 1]]),
      this.#requests.figure(),
      figureOf(METRICS.inFlight, [[[], this.#inFlight]]),
      this.#errors.figure(),
      this.#keyRequests.figure(),
      this.#keyRefused.figure(),
      this.#durations.figure(),
      this.#firstTokens.figure(),
      this.#attempts.figure(),
      this.#commits.figure(),
      figureOf(METRICS.alarms, [[[], this.#alarms]]),
    ]
  }
}

/** Where the configuration does not say. */
export const KEYS_MAX = 500
/** No id looks like this. */
export const OTHER = 'other'

/** The first so many of them, and one name for all others: what a monitor keeps must not grow with the keys. */
class Names {
  readonly #known = new Set([''])
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  shown(name: string): string {
    if (this.#known.has(name)) return name
    if (this.#known.size > this.#most) return OTHER
    this.#known.add(name)
    return name
  }
}

/** Nested by label: three look-ups take a fraction of the time of joining the labels into one key. */
class Cells<Cell> {
  readonly #tree = new Map<Label, Map<Label, Map<Label, Cell>>>()
  readonly #make: () => Cell

  constructor(make: () => Cell) {
    this.#make = make
  }

  at(first: Label, second: Label, third: Label): Cell {
    return this.#tree.get(first)?.get(second)?.get(third) ?? this.#add(first, second, third)
  }

  *entries(): Iterable<readonly [labels: readonly Label[], cell: Cell]> {
    for (const [first, seconds] of this.#tree)
      for (const [second, thirds] of seconds)
        for (const [third, cell] of thirds) yield [[first, second, third], cell]
  }

  #add(first: Label, second: Label, third: Label): Cell {
    const seconds = this.#tree.get(first) ?? new Map<Label, Map<Label, Cell>>()
    const thirds = seconds.get(second) ?? new Map<Label, Cell>()
    const cell = this.#make()
    this.#tree.set(first, seconds.set(second, thirds.set(third, cell)))
    return cell
  }
}

class Counter {
  readonly #metric: Metric
  readonly #cells = new Cells(() => ({ count: 0 }))

  constructor(metric: Metric) {
    this.#metric = metric
  }

  /** Reported from now on, beginning with 0. */
  begin(first: Label): void {
    this.#cells.at(first, '', '')
  }

  add(first: Label, second: Label = '', third: Label = ''): void {
    this.#cells.at(first, second, third).count += 1
  }

  figure(): Figure {
    const counts = Array.from(
      this.#cells.entries(),
      ([labels, { count }]) => [labels, count] as const,
    )
    return figureOf(this.#metric, counts)
  }
}

/** With at most one label. */
class Histogram {
  readonly #metric: Metric
  readonly #boundsSeconds: readonly number[]
  readonly #cells: Cells<{ readonly counts: number[]; seconds: number }>

  constructor(metric: Metric, boundsSeconds: readonly number[]) {
    this.#metric = metric
    this.#boundsSeconds = boundsSeconds
    // The last count is for durations above all bounds.
    this.#cells = new Cells(() => ({
      counts: Array.from({ length: boundsSeconds.length + 1 }, () => 0),
      seconds: 0,
    }))
  }

  observe(durationMs: number, label: Label): void {
    const cell = this.#cells.at(label, '', '')
    const seconds = durationMs / 1_000
    cell.seconds += seconds
    let bucket = 0
    while (seconds > (this.#boundsSeconds[bucket] ?? Infinity)) bucket += 1
    cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
  }

  figure(): Figure {
    const { name } = this.#metric
    const samples = Array.from(this.#cells.entries(), ([values, { counts, seconds }]) => {
      const labels = labelsOf(this.#metric, values)
      let count = 0
      const buckets = counts.map((more, bucket) => {
        count += more
        const le = this.#boundsSeconds[bucket] ?? '+Inf'
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: seconds },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
    return figureWith(this.#metric, samples.flat())
  }
}
