// The last minute of one key: how many requests and tokens were admitted in each second. Pure, and exact: at most the
// limit in any 60 seconds, where a token bucket would admit twice that.

type Rates = { readonly rpm: number | null; readonly tpm: number | null }

/** Seconds in which something was admitted, oldest first. */
export type RateWindow = {
  readonly seconds: RateSecond[]
  requests: number
  tokens: number
  /** The clock was set back since the window was packed, so it must be packed again to age by the new time. */
  isRedated: boolean
}
type RateSecond = {
  readonly second: number
  requests: number
  tokens: number
  /** The counts as text, cached: only a few seconds of a busy minute change from one packing to the next. */
  packed: string | null
}

/** A request may come in the last instant of its second, and is then 60 s old only 61 s after that second began. */
const WINDOW_SECONDS = 61

/** Unpacks what `packWindow` wrote, without what is too old by now. */
export function unpackWindow(packed: string, now: number): RateWindow {
  const window: RateWindow = { seconds: [], requests: 0, tokens: 0, isRedated: false }
  if (packed === '') return window
  const current = Math.floor(now / 1000)
  let second = 0
  for (const entry of packed.split(';')) {
    const [step, requests, tokens] = entry.split(',')
    second += Number(step)
    if (second <= current - WINDOW_SECONDS) continue
    // A clock that was set back leaves seconds in the future. They count as now, or they would block until then.
    const counted = Math.min(second, current)
    if (counted < second) window.isRedated = true
    const newest = window.seconds.at(-1)
    const by = { requests: Number(requests), tokens: Number(tokens) }
    if (newest?.second === counted) change(window, newest, by)
    else add(window, counted, by)
  }
  return window
}

/** The same window at a later time, without what is too old by then. */
export function ageWindow(window: RateWindow, now: number): RateWindow {
  const { seconds } = window
  const current = Math.floor(now / 1000)
  const newest = seconds.at(-1)
  if (newest === undefined) return window
  // The clock was set back.
  if (newest.second > current) return unpackWindow(packWindow(window), now)
  window.isRedated = false
  let old = 0
  for (const second of seconds) {
    if (second.second > current - WINDOW_SECONDS) break
    window.requests -= second.requests
    window.tokens -= second.tokens
    old += 1
  }
  if (old > 0) seconds.splice(0, old)
  return window
}

/** As text whose length grows with activity: for each second its distance from the one before, requests, tokens. */
export function packWindow(window: RateWindow): string {
  let packed = ''
  let last = 0
  for (const each of window.seconds) {
    each.packed ??= `,${each.requests},${each.tokens}`
    packed += `${packed === '' ? '' : ';'}${each.second - last}${each.packed}`
    last = each.second
  }
  return packed
}

/** Counts an admission. */
export function countAdmission(window: RateWindow, now: number, tokens: number): void {
  countAt(window, now, { requests: 1, tokens })
}

/**
 * Replaces the estimate of a request with its true total, in the second that admitted it. If that second has left the
 * window, tokens above the estimate count now: those of a long answer would otherwise never count.
 */
export function correct(
  window: RateWindow,
  admittedAt: number,
  correction: { readonly now: number; readonly tokens: number },
): void {
  if (correction.tokens === 0) return
  const admitted = Math.floor(admittedAt / 1000)
  const second = window.seconds.findLast((candidate) => candidate.second === admitted)
  const tokens = Math.max(correction.tokens, -(second?.tokens ?? 0))
  if (second !== undefined) change(window, second, { requests: 0, tokens })
  else if (tokens > 0) countAt(window, correction.now, { requests: 0, tokens })
}

/** Which rate keeps this request out, and for how long; undefined = none. A refusal consumes nothing. */
export function rateExceeded(
  rates: Rates,
  window: RateWindow,
  ask: { readonly now: number; readonly tokens: number },
): Exceeded | undefined {
  return longerWait(requestsExceeded(rates, window, ask.now), tokensExceeded(rates, window, ask))
}

type Exceeded = { readonly limit: 'rpm' | 'tpm'; readonly retryAfterSeconds: number }

/** Nothing is let through before both have room; of equal ones the first. */
export function longerWait<One extends Wait, Other extends Wait>(
  one: One | undefined,
  other: Other | undefined,
): One | Other | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return other.retryAfterSeconds > one.retryAfterSeconds ? other : one
}

type Wait = { readonly retryAfterSeconds: number }

function requestsExceeded({ rpm }: Rates, window: RateWindow, now: number): Exceeded | undefined {
  if (rpm === null || window.requests + 1 <= rpm) return undefined
  const surplus = window.requests + 1 - rpm
  return {
    limit: 'rpm',
    retryAfterSeconds: secondsUntilFree(window, 'requests', { surplus, now }),
  }
}

function tokensExceeded(
  { tpm }: Rates,
  window: RateWindow,
  { now, tokens }: { readonly now: number; readonly tokens: number },
): Exceeded | undefined {
  // A request larger than the whole limit is admitted alone, or it would never run. Zero tokens always fit.
  const room = tpm === null ? Infinity : Math.max(tpm, tokens)
  if (tokens === 0 || window.tokens + tokens <= room) return undefined
  const surplus = window.tokens + tokens - room
  return { limit: 'tpm', retryAfterSeconds: secondsUntilFree(window, 'tokens', { surplus, now }) }
}

/** When everything in the window will have left it. */
export function windowEndsAt(window: RateWindow, now: number): number {
  const newest = window.seconds.at(-1)
  return newest === undefined ? now : leavesAt(newest)
}

function secondsUntilFree(
  window: RateWindow,
  what: 'requests' | 'tokens',
  wanted: { readonly surplus: number; readonly now: number },
): number {
  let freed = 0
  for (const second of window.seconds) {
    freed += second[what]
    if (freed >= wanted.surplus)
      return Math.max(1, Math.ceil((leavesAt(second) - wanted.now) / 1000))
  }
  // Only a limit of 0 gets here: waiting cannot help, so the client is told to come back in a minute.
  return WINDOW_SECONDS
}

function leavesAt(second: RateSecond): number {
  return (second.second + WINDOW_SECONDS) * 1000
}

type Counts = { readonly requests: number; readonly tokens: number }

/** In the current second, or in the newest one if the clock is behind it. */
function countAt(window: RateWindow, now: number, counts: Counts): void {
  const newest = window.seconds.at(-1)
  const second = Math.floor(now / 1000)
  if (newest === undefined || newest.second < second) add(window, second, counts)
  else change(window, newest, counts)
}

function add(window: RateWindow, second: number, { requests, tokens }: Counts): void {
  window.seconds.push({ second, requests, tokens, packed: null })
  window.requests += requests
  window.tokens += tokens
}

function change(window: RateWindow, second: RateSecond, by: Counts): void {
  second.requests += by.requests
  second.tokens += by.tokens
  second.packed = null
  window.requests += by.requests
  window.tokens += by.tokens
}
