// A gateway elsewhere, by its admin API: where it is and with which token, from options or the environment, and calls
// whose refusals read like those of this machine.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { API_PREFIX } from '../../admin/contract/route.ts'
import type { AdminErrorJson } from '../../admin/contract/errors.ts'
import { codeOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { tokenHolder } from '../../core/secret.ts'
import { withoutEndSlash } from '../../core/text.ts'
import { FailureError, RemoteError, UsageError } from '../terminal/failure.ts'
import type { CommonOptions } from './context.ts'

export type RemoteOptions = CommonOptions & { readonly url?: string; readonly tokenFile?: string }

/** For commands that work on another machine's gateway as well. */
export function remote(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'a gateway elsewhere, such as https://tollgate.example.com (TOLLGATE_URL)',
    )
    .option('--token-file <file>', 'a file with an access token for it (else TOLLGATE_TOKEN)')
}

export type Remote = {
  /** Answers with the JSON of a success. Throws what the gateway refused, in its words. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>
}

/** Undefined: the gateway of this machine is meant. */
export function remoteOf(options: RemoteOptions): Remote | undefined {
  const { env } = process
  const url = options.url ?? (env['TOLLGATE_URL'] || undefined)
  if (url === undefined) {
    if (options.tokenFile === undefined) return undefined
    throw new UsageError('--token-file needs --url or TOLLGATE_URL: where is the gateway?')
  }
  const beside = options.config === undefined ? 'TOLLGATE_DATABASE' : '--config'
  if (options.config !== undefined || (env['TOLLGATE_DATABASE'] ?? '') !== '') {
    const named = options.url === undefined ? 'TOLLGATE_URL' : '--url'
    throw new UsageError(
      `${named} means a gateway elsewhere, and ${beside} the database of this machine: use one of them`,
    )
  }
  const base = withoutEndSlash(checkedUrl(url))
  const token = tokenOf(options)
  return { call: (method, path, body) => call({ base, token }, { method, path, body }) }
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`"${text}" is not the URL of a gateway: write https://HOST`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('write the URL without a user name and password: they are not sent')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError(
      `${url.origin} is plain HTTP, by which anyone on the network could read the token: use https://`,
    )
  }
  return text
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function tokenOf({ tokenFile }: RemoteOptions): string {
  const token = tokenFile === undefined ? process.env['TOLLGATE_TOKEN'] : readToken(tokenFile)
  const named = tokenFile ?? 'TOLLGATE_TOKEN'
  if (token === undefined || token === '') {
    throw new UsageError('set TOLLGATE_TOKEN, or name a file with a token by --token-file')
  }
  if (tokenHolder(token) !== undefined) return token
  throw new UsageError(
    `${named} is not an access token: \`tollgate tokens create\` makes one on the gateway's machine`,
  )
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${codeOf(error) ?? 'unreadable'})`)
  }
}

/** Longer than any change takes. */
const ANSWER_MS_MAX = 600_000

type Gateway = { readonly base: string; readonly token: string }
type Sent = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body: unknown }

async function call({ base, token }: Gateway, { method, path, body }: Sent): Promise<unknown> {
  const response = await fetch(`${base}${API_PREFIX}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // Another address must not get the token.
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch((thrown: unknown) => {
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
    const why = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause))
    throw new FailureError(`${base} cannot be reached (${why})`)
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok && answer !== undefined) return answer
  if (isRefusal(answer)) throw new RemoteError(answer.error)
  throw new FailureError(
    `${base} does not answer like the admin API of Tollgate (HTTP ${response.status}): check the URL`,
  )
}

function isRefusal(answer: unknown): answer is AdminErrorJson {
  const error = isObject(answer) ? answer['error'] : undefined
  return (
    isObject(error) && typeof error['message'] === 'string' && typeof error['code'] === 'string'
  )
}
