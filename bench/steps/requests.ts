// From the marks of a contender, and the times at which the client sent its requests and had its answers, to how long each
// step takes.
import { isOfBatch, LAST_BYTE, MARKS, type Marked } from './names.ts'

export type Sent = readonly [sentMs: number, answeredMs: number]

/** The steps of one request in turn, in microseconds; together they are its whole time. */
type Request = ReadonlyMap<string, number>

export type Steps = {
  readonly microseconds: Request
  readonly wholeUs: number
  readonly requests: number
}

/** Of requests one after the other: what is marked between its two times belongs to a request. */
export function requestsOf(sent: readonly Sent[], marks: readonly Marked[]): readonly Request[] {
  let next = 0
  return sent.map(([sentMs, answeredMs]) => {
    while ((marks[next]?.[0] ?? Infinity) < sentMs) next++
    const own: Marked[] = []
    for (let one = marks[next]; one !== undefined && one[0] <= answeredMs; one = marks[next]) {
      own.push(one)
      next++
    }
    return requestOf([sentMs, answeredMs], own)
  })
}

function requestOf([sentMs, answeredMs]: Sent, marks: readonly Marked[]): Request {
  const steps = new Map<string, number>()
  let fromMs = sentMs
  const end = (step: string, atMs: number): void => {
    steps.set(step, (steps.get(step) ?? 0) + (atMs - fromMs) * 1000)
    fromMs = atMs
  }
  let batch = ''
  let trip = 1
  for (const [atMs, index] of marks) {
    const name = MARKS[index]
    if (name === 'hold asked' || name === 'settlement asked') {
      end(name, atMs)
      batch = name.slice(0, -' asked'.length)
      trip = 1
    } else if (name === 'written' || name === 'received') {
      // A trip to PostgreSQL is over when something is written after rows were received.
      if (name === 'written' && steps.has(`${batch} received ${trip}`)) trip++
      if (batch !== '') end(`${batch} ${name} ${trip}`, atMs)
    } else if (name !== undefined && isOfBatch(name)) {
      if (batch !== '') end(`${batch} ${name}`, atMs)
    } else if (name !== undefined) {
      end(name, atMs)
      if (name === 'held' || name === 'settled') batch = ''
    }
  }
  end(LAST_BYTE, answeredMs)
  return steps
}

/** Requests around the median: their mean adds up to about the median of the whole. */
const MIDDLE = { from: 0.4, to: 0.6 }

/**
 * The mean of each step over the requests in the middle. Those that something else came between, such as the ledger's
 * own beat, have other steps than most and are left out.
 */
export function middleOf(requests: readonly Request[]): Steps {
  const alike = Map.groupBy(requests, (request) => [...request.keys()].join())
  const usual = [...alike.values()].toSorted((one, other) => other.length - one.length)[0] ?? []
  const sorted = usual.toSorted((one, other) => wholeOf(one) - wholeOf(other))
  const middle = sorted.slice(
    Math.floor(sorted.length * MIDDLE.from),
    Math.max(1, Math.ceil(sorted.length * MIDDLE.to)),
  )
  const mean = (valueOf: (request: Request) => number): number =>
    middle.reduce((sum, request) => sum + valueOf(request), 0) / middle.length
  const steps = [...(middle[0]?.keys() ?? [])]
  return {
    microseconds: new Map(steps.map((step) => [step, mean((each) => each.get(step) ?? 0)])),
    wholeUs: mean(wholeOf),
    requests: usual.length / requests.length,
  }
}

function wholeOf(request: Request): number {
  return [...request.values()].reduce((sum, step) => sum + step, 0)
}
