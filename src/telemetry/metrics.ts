// The one table of what /metrics reports, by name; docs/operating.md is tested against it. Label values come from the
// configuration or the code, never from a client.

/** How the figures of several processes become one. */
type Joining = 'sum' | 'min' | 'first'

export type Metric = {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** Unset = a sum. */
  readonly joined?: Joining
}

export const METRICS = {
  build: {
    name: 'tollgate_build_info',
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label is the running version',
    joined: 'first',
  },
  processes: {
    name: 'tollgate_processes',
    type: 'gauge',
    labels: [],
    help: 'Serving processes that these figures add up',
  },
  requests: {
    name: 'tollgate_requests_total',
    type: 'counter',
    labels: ['endpoint', 'model', 'status'],
    help: 'Requests below /v1 that have ended; status 499: the client left',
  },
  inFlight: {
    name: 'tollgate_requests_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Requests below /v1 that are being served',
  },
  errors: {
    name: 'tollgate_errors_total',
    type: 'counter',
    labels: ['code'],
    help: 'Requests below /v1 that ended with an error, by its code',
  },
  duration: {
    name: 'tollgate_request_duration_seconds',
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Duration of requests, from their head to the last byte of the answer',
  },
  firstToken: {
    name: 'tollgate_first_token_seconds',
    type: 'histogram',
    labels: ['model'],
    help: 'Time from the head of a streamed request to the first output of the model',
  },
  attempts: {
    name: 'tollgate_attempts_total',
    type: 'counter',
    labels: ['target', 'outcome'],
    help: 'Calls to targets, by outcome: answered, given up, or the code of an error',
  },
  standing: {
    name: 'tollgate_target_standing',
    type: 'gauge',
    labels: ['target', 'standing'],
    help: 'How many processes see a target answering, failing, resting or uncalled',
  },
  commits: {
    name: 'tollgate_ledger_commit_seconds',
    type: 'histogram',
    labels: [],
    help: 'How long the database took to commit a batch of the ledger',
  },
  alarms: {
    name: 'tollgate_ledger_alarms_total',
    type: 'counter',
    labels: [],
    help: 'Alarms of the ledger, each with a line ledger_alarm in the log',
  },
  writable: {
    name: 'tollgate_ledger_writable',
    type: 'gauge',
    labels: [],
    help: '1 while the ledger can write to the database; 0: calls are refused',
    joined: 'min',
  },
  readable: {
    name: 'tollgate_ledger_readable',
    type: 'gauge',
    labels: [],
    help: '1 when the database answered this scrape; 0: figures from the books are left out',
  },
  limit: {
    name: 'tollgate_frame_limit_usd',
    type: 'gauge',
    labels: [],
    help: 'What the frame lets all keys spend in this period',
  },
  spent: {
    name: 'tollgate_frame_spent_usd',
    type: 'gauge',
    labels: [],
    help: 'What all keys have spent in this period of the frame',
  },
  held: {
    name: 'tollgate_frame_held_usd',
    type: 'gauge',
    labels: [],
    help: 'What is held for requests in flight',
  },
  remaining: {
    name: 'tollgate_frame_remaining_usd',
    type: 'gauge',
    labels: [],
    help: 'What is neither spent nor held in this period of the frame',
  },
  keys: {
    name: 'tollgate_keys',
    type: 'gauge',
    labels: ['status'],
    help: 'Keys, by status',
  },
  tokens: {
    name: 'tollgate_tokens_total',
    type: 'counter',
    labels: ['model', 'kind'],
    help: 'Tokens in the books; cached and cache_write are parts of input, reasoning is a part of output',
  },
  cost: {
    name: 'tollgate_cost_usd',
    type: 'gauge',
    labels: ['model'],
    help: 'What all requests in the books cost; a correction can lower it',
  },
} as const satisfies Readonly<Record<string, Metric>>

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

export function figureWith(metric: Metric, values: readonly Sample[]): Figure {
  const { name, type, help, joined = 'sum' } = metric
  return { name, type, help, aggregator: joined, values }
}

export function labelsOf({ labels }: Metric, values: readonly Label[]): Record<string, Label> {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}
