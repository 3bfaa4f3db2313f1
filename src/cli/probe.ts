// `tollgate probe`: runs the checks of endpoints, headers and errors (probe/checks.ts) against a running gateway and
// prints one line each. For the owner of an application before switching; it needs only the application's key.
import { Option, type Command } from 'commander'
import { GatewayError } from '../core/errors.ts'
import { isObject, stringOf, type Json } from '../core/json.ts'
import { HttpClient } from '../providers/upstream/http.ts'
import { demand } from './command/mistakes.ts'
import {
  checksFor,
  LISTING,
  modelsIn,
  type Check,
  type ProbeRequest,
  type Seen,
} from './probe/checks.ts'
import { FailureError, UsageError } from './terminal/failure.ts'
import { block, printJson, printText } from './terminal/output.ts'

type ProbeOptions = { readonly url: string; readonly json?: true }

export function addProbe(program: Command): void {
  const url = new Option('--url <url>', 'the gateway, without /v1: http://127.0.0.1:4000')
  demand(program.command('probe'), [url])
    .description(
      'Call every endpoint of a running gateway with the key in TOLLGATE_API_KEY, correctly and incorrectly, and compare the answers with the specification: endpoints, headers, errors. Costs a few short answers. Exit code 1 when something is not as specified.',
    )
    .option('--json', 'print only JSON on standard output')
    .action(async ({ url, json }: ProbeOptions) => {
      const base = readUrl(url)
      const results = await probe(gatewayAt(base, readKey()))
      const isGood = results.every(({ outcome }) => outcome !== 'failed')
      if (json) printJson({ ok: isGood, url: base.href, checks: results })
      else printText(textOf(results))
      if (!isGood) process.exitCode = 1
    })
}

type Result = {
  readonly check: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly expected: string
  readonly seen: string
}

async function probe(gateway: Gateway): Promise<readonly Result[]> {
  try {
    const listed = await gateway.ask(LISTING.request)
    if (listed.status === 401) throw turnedAway(listed)
    const all = [listed]
    const results = [resultOf(LISTING, listed)]
    for (const check of checksFor(modelsIn(listed.json))) {
      if ('skipped' in check) {
        const { name, expected, skipped: seen } = check
        results.push({ check: name, outcome: 'skipped', expected, seen })
        continue
      }
      const seen = await gateway.ask(check.request)
      all.push(seen)
      results.push(resultOf(check, seen))
    }
    return [...results, requestIds(all)]
  } finally {
    await gateway.close()
  }
}

/** A key that is refused everywhere can test nothing. */
function turnedAway({ code }: Seen): FailureError {
  const answer = code === undefined ? '401' : `401 ${code}`
  return new FailureError(
    `this gateway rejects the key in TOLLGATE_API_KEY (${answer}): probe with a key that works`,
  )
}

function resultOf({ name, expected, holds }: Check, seen: Seen): Result {
  const shown = { check: name, expected, seen: wordsFor(seen) }
  if (holds(seen)) return { ...shown, outcome: 'passed' }
  // The operator's choice for this key, not a fault of the gateway.
  const isForbidden = seen.status === 403 && seen.code === 'endpoint_not_allowed'
  return { ...shown, outcome: isForbidden ? 'skipped' : 'failed' }
}

function requestIds(all: readonly Seen[]): Result {
  const without = all.filter(({ requestId }) => requestId === undefined).length
  return {
    check: 'x-request-id, and request-id below /v1/messages',
    expected: 'on every answer',
    outcome: without === 0 ? 'passed' : 'failed',
    seen: `on ${all.length - without} of ${all.length}`,
  }
}

function wordsFor({ status, code, contentType, message }: Seen): string {
  if (status === undefined) return message ?? 'no answer'
  if (code !== undefined) return `${status} ${code}`
  return [status, contentType, message].filter((word) => word !== undefined).join(' ')
}

const MARKS: Record<Result['outcome'], string> = { passed: '✓', failed: '✗', skipped: '–' }

function textOf(results: readonly Result[]): string {
  const lines = results.map(({ check, outcome, expected, seen }): readonly [string, string] => [
    `${MARKS[outcome]} ${check}`,
    outcome === 'failed' ? `expected ${expected}, saw ${seen}` : seen,
  ])
  const count = (outcome: Result['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length
  const summary = `${count('passed')} as specified, ${count('failed')} not, ${count('skipped')} not tried`
  return `${block(lines)}\n\n${summary}`
}

function readKey(): string {
  const key = process.env['TOLLGATE_API_KEY']
  if (!key) {
    throw new UsageError('set the environment variable TOLLGATE_API_KEY to the key to probe with')
  }
  if (/^[!-~]+$/.test(key)) return key
  throw new UsageError('TOLLGATE_API_KEY has a space, line break or letter that no key has')
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') {
    // Accepts the address with /v1 too, as many clients want it.
    return new URL(`${url.origin}${url.pathname.replace(/\/*$/, '/').replace(/\/v1\/$/, '/')}`)
  }
  throw new UsageError('--url must be an address such as http://127.0.0.1:4000')
}

type Gateway = {
  ask(request: ProbeRequest): Promise<Seen>
  close(): Promise<void>
}

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 300_000 }

/** Throws only if no gateway has answered so far. */
function gatewayAt(base: URL, key: string): Gateway {
  const http = new HttpClient(process.env)
  let hasAnswered = false
  return {
    close: () => http.close(),
    async ask(request) {
      try {
        const seen = await send(http, base, withKey(request, key))
        hasAnswered = true
        return seen
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        const reason = error.cause instanceof Error ? error.cause.message : error.message
        if (!hasAnswered) throw new FailureError(`no gateway answers at ${base.href}: ${reason}`)
        return { text: '', json: null, message: `a connection that broke: ${reason}` }
      }
    },
  }
}

type Sent = ProbeRequest & { readonly headers: Readonly<Record<string, string>> }

function withKey(request: ProbeRequest, own: string): Sent {
  const { header, key = own } = request
  const secret = header === 'authorization' ? `Bearer ${key}` : key
  return {
    ...request,
    headers: {
      'content-type': 'application/json',
      ...(header === undefined ? {} : { [header]: secret }),
    },
  }
}

async function send(http: HttpClient, base: URL, request: Sent): Promise<Seen> {
  const { method, path, headers, body } = request
  const answer = await http.send(
    {
      url: new URL(path.slice(1), base),
      method,
      headers,
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      timeouts: TIMEOUTS,
    },
    new AbortController().signal,
  )
  const chunks = await Array.fromAsync(answer.body)
  const text = Buffer.concat(chunks).toString()
  const json = parsed(text)
  const error = isObject(json) && isObject(json['error']) ? json['error'] : {}
  const idHeader = path.startsWith('/v1/messages') ? 'request-id' : 'x-request-id'
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    text,
    json,
    code: stringOf(error['code']),
    message: stringOf(error['message']),
    requestId: answer.headers.get('x-request-id') && answer.headers.get(idHeader),
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
