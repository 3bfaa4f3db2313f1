// The log: one JSON line per event, on standard output. The only writer of standard output in a running gateway, and
// the last place where a secret could slip out, so everything textual passes `redact` here.
import type { Clock } from '../core/clock.ts'
import type { RequestOutcome, Trace } from './trace.ts'

type LogLevel = 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Log {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** Writes what is waiting; called before the process ends. */
  flush(): void
}

/** How long a line may wait for others, so that a busy gateway writes many at once. Errors do not wait. */
const GATHER_MS = 10

/** `write` returns false when it has no room; the number of lines lost is logged as soon as there is room again. */
export function jsonLog(clock: Clock, write: (text: string) => unknown = toStandardOutput): Log {
  let waiting = ''
  let lost = 0
  const textOf = (level: LogLevel, event: string, fields: LogFields): string => {
    // In pieces, because copying the fields into one object costs more than writing them.
    const head = `{"time":"${timeText(clock.now())}","level":"${level}","event":"${event}"`
    const rest = JSON.stringify(fields)
    return `${redact(rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`)}\n`
  }
  const flush = (): void => {
    if (waiting === '') return
    const lines = waiting
    waiting = ''
    const gap = lost === 0 ? '' : textOf('warn', 'log_lines_lost', { count: lost })
    lost = write(gap + lines) === false ? lost + lines.split('\n').length - 1 : 0
  }
  const line = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (waiting === '') setTimeout(flush, GATHER_MS)
    waiting += textOf(level, event, fields)
    if (level === 'error') flush()
  }
  return {
    info: (event, fields) => line('info', event, fields),
    warn: (event, fields) => line('warn', event, fields),
    error: (event, fields) => line('error', event, fields),
    flush,
  }
}

// Remembered, because many lines are written within a millisecond.
let lastAt = NaN
let lastTimeText = ''

function timeText(at: number): string {
  if (at !== lastAt) {
    lastAt = at
    lastTimeText = new Date(at).toISOString()
  }
  return lastTimeText
}

/** An unexpected error for the log: where it happened and why, through every cause. */
export function describeError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const own = thrown.stack ?? `${thrown.name}: ${thrown.message}`
  return thrown.cause === undefined ? own : `${own}\ncaused by ${describeError(thrown.cause)}`
}

/** An expected failure, such as a provider that is away: the reason in one line, without where it was noticed. */
export function describeFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  // When several addresses were tried, only the individual errors say anything.
  const what =
    thrown instanceof AggregateError
      ? thrown.errors.map(describeFailure).join('; ')
      : thrown.message
  const own = `${thrown.name}: ${what}`
  return thrown.cause === undefined ? own : `${own}, because ${describeFailure(thrown.cause)}`
}

type Secret = {
  readonly pattern: RegExp
  readonly replacement: string
}

/** `mark`: every text that one of these patterns matches matches it, too, and it takes a tenth of their time. */
type Secrets = { readonly mark: RegExp; readonly all: readonly Secret[] }

/** Secrets of keys, and tokens of people and programs. */
const OWN_SECRETS: Secrets = {
  mark: /_(?:live|test)_|tg[ps]_/,
  all: [
    { pattern: /_(?:live|test)_[0-9A-Za-z]{20,}/g, replacement: '_[redacted]' },
    { pattern: /(tg[ps]_)[0-9A-Za-z]{20,}/g, replacement: '$1[redacted]' },
  ],
}

// Tollgate's own, the usual shapes of provider keys, passwords inside URLs, and whatever a Bearer header carried.
const SECRETS: Secrets = {
  mark: /_(?:live|test)_|tg[ps]_|(?:[spr]k|xai|AIza)[-_0-9A-Za-z]{16}|:\/\/|[Bb]earer\s|BEARER\s/,
  all: [
    ...OWN_SECRETS.all,
    { pattern: /\b(?:sk|pk|rk|gsk|xai|AIza)[-_0-9A-Za-z]{16,}/g, replacement: '[redacted]' },
    { pattern: /(:\/\/[^/\s:@]{0,64}:)[^/\s@]+(?=@)/g, replacement: '$1[redacted]' },
    { pattern: /\b(Bearer\s)[^\s"\\]+/gi, replacement: '$1[redacted]' },
  ],
}

/** The text with everything that looks like a credential removed. */
export function redact(text: string): string {
  return without(SECRETS, text)
}

/** The text without secrets of this gateway: a client that sent one as a name must not have it in its error log. */
export function redactOwn(text: string): string {
  return without(OWN_SECRETS, text)
}

function without({ mark, all }: Secrets, text: string): string {
  if (!mark.test(text)) return text
  return all.reduce((clean, { pattern, replacement }) => clean.replace(pattern, replacement), text)
}

/** The most that is kept for a reader that has stopped reading: the gateway goes on, but must not run out of memory. */
const UNREAD_BYTES_MAX = 16 * 2 ** 20

function toStandardOutput(text: string): boolean {
  const hasRoom = process.stdout.writableLength < UNREAD_BYTES_MAX
  if (hasRoom) process.stdout.write(text)
  return hasRoom
}

/**
 * The log for someone watching it at a terminal: without the requests that the web interface makes by itself, so that
 * the first link and the calls of programs stay in sight. A log that is kept has every line.
 */
export function terminalLog(log: Log): Log {
  return {
    ...log,
    info: (event, fields) => {
      if (event !== 'request' || isNews(fields)) log.info(event, fields)
    },
  }
}

/** Calls of programs, changes, and whatever was refused. */
function isNews({ method, path, status }: LogFields = {}): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return !isRead || Number(status) >= 400 || String(path).startsWith('/v1')
}

/** The one log line of a request: what was asked, how it ended, what it cost. Never a word of a prompt or an answer. */
export function logRequest(log: Log, trace: Trace, outcome: RequestOutcome): void {
  const { error } = outcome
  const isOurs = error?.code === 'internal_error'
  // Where in the code it happened helps only if the fault is the gateway's.
  const describe = isOurs ? describeError : describeFailure
  log[isOurs ? 'error' : 'info']('request', {
    request_id: trace.requestId,
    trace_id: trace.spans?.traceId,
    method: outcome.method,
    path: trace.path,
    status: outcome.status,
    code: error?.code,
    duration_ms: Math.round(outcome.durationMs),
    key: trace.keyId,
    model: trace.model,
    target: trace.target,
    stream: trace.stream,
    attempts: trace.attempts?.length,
    input_tokens: trace.inputTokens,
    output_tokens: trace.outputTokens,
    cost: trace.costUsd,
    estimated: trace.estimated,
    cause: error?.cause === undefined ? undefined : describe(error.cause),
  })
}
