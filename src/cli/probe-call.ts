// One call of a probe, and what was seen of the answer. Throws only if no gateway has answered so far.
import { GatewayError } from '../core/errors.ts'
import { isObject, stringOf, type Json } from '../core/json.ts'
import { HttpClient } from '../providers/upstream/http.ts'
import { FailureError } from './failure.ts'
import type { ProbeRequest, Seen } from './probe-checks.ts'

export type Gateway = {
  ask(request: ProbeRequest): Promise<Seen>
  close(): Promise<void>
}

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 300_000 }

export function gatewayAt(base: URL, key: string): Gateway {
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
        return { ...NOTHING, message: `a connection that broke: ${reason}` }
      }
    },
  }
}

const NOTHING: Seen = {
  status: undefined,
  contentType: undefined,
  text: '',
  json: null,
  code: undefined,
  message: undefined,
  requestId: undefined,
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
