// The log: one JSON line an event, on standard output. The only writer of standard output in a running gateway, and the
// last place where a secret could slip out, so everything textual passes `redact` here.
import type { Clock } from '../core/clock.ts'

export type LogLevel = 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Log {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** Writes what is waiting; called before the process ends. */
  flush(): void
}

/** Lines are gathered and written once a turn of the event loop, so that a request never waits for its own log line. */
export function jsonLog(clock: Clock, write: (text: string) => void = toStandardOutput): Log {
  let waiting = ''
  const flush = (): void => {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    write(text)
  }
  const line = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (waiting === '') setImmediate(flush)
    // In pieces, because copying the fields into one object costs more than writing them.
    const head = `{"time":"${timeText(clock.now())}","level":"${level}","event":"${event}"`
    const rest = JSON.stringify(fields)
    waiting += `${redact(rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`)}\n`
  }
  return {
    info: (event, fields) => line('info', event, fields),
    warn: (event, fields) => line('warn', event, fields),
    error: (event, fields) => line('error', event, fields),
    flush,
  }
}

// Many lines are written within a millisecond.
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

// Our own key secrets and personal tokens, the usual shapes of provider keys, passwords inside addresses, and whatever a header carried.
// Each begins with characters to search for: a lookbehind in front made this the dearest part of a log line.
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/_(?:live|test)_[0-9A-Za-z]{20,}/g, '_[redacted]'],
  [/tgp_[0-9A-Za-z]{20,}/g, 'tgp_[redacted]'],
  [/\b(?:sk|pk|rk|gsk|xai|AIza)[-_0-9A-Za-z]{16,}/g, '[redacted]'],
  [/(:\/\/[^/\s:@]{0,64}:)[^/\s@]+(?=@)/g, '$1[redacted]'],
  [/(Bearer\s)[^\s"\\]+/gi, '$1[redacted]'],
]

/** The text with everything that looks like a credential taken out. */
export function redact(text: string): string {
  let clean = text
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement)
  return clean
}

function toStandardOutput(text: string): void {
  process.stdout.write(text)
}
