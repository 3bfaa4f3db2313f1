// A gateway elsewhere, by its admin API: where it is and with which token, from options or the environment, and calls
// whose refusals read like those of this machine.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { contract, type Contract, type RouteName } from '../../admin/contract/contract.ts'
import { adminError } from '../../admin/contract/errors.ts'
import {
  addressOf,
  type AdminRoute,
  type AnswerOf,
  type Sent,
  type SentParts,
} from '../../admin/contract/route.ts'
import { codeOf } from '../../core/errors.ts'
import { tokenHolder } from '../../core/secret.ts'
import { withoutEndSlash } from '../../core/text.ts'
import { common, type CommonOptions } from '../command/context.ts'
import { FailureError, RemoteError, UsageError } from '../terminal/failure.ts'

export type RemoteOptions = CommonOptions & { readonly url?: string; readonly tokenFile?: string }

/** Adds the options of a command that works on a gateway elsewhere as well. */
export function anywhere(command: Command): Command {
  return common(command)
    .option(
      '--url <url>',
      'a gateway elsewhere, such as https://tollgate.example.com (TOLLGATE_URL)',
    )
    .option('--token-file <file>', 'a file with an access token for it (else TOLLGATE_TOKEN)')
}

/** Calls a route of the admin API. Throws what the gateway refused, in its words. */
export type AdminCall = <Name extends RouteName>(
  name: Name,
  sent: Sent<Contract[Name]> & Versioned,
) => Promise<AnswerOf<Contract[Name]>>

type Versioned = { readonly ifMatch?: string }

/** For changes that hold whatever was changed before. */
export const ANY_VERSION: Versioned = { ifMatch: '*' }

/** Undefined: the gateway of this machine is meant. */
export function connectionOf(options: RemoteOptions): AdminCall | undefined {
  const { env } = process
  const url = options.url ?? (env['TOLLGATE_URL'] || undefined)
  if (url === undefined) {
    if (options.tokenFile === undefined) return undefined
    throw new UsageError('--token-file needs --url or TOLLGATE_URL: where is the gateway?')
  }
  const beside =
    options.config === undefined
      ? ['TOLLGATE_DATABASE', 'TOLLGATE_CONFIG'].find((name) => (env[name] ?? '') !== '')
      : '--config'
  if (beside !== undefined) {
    const named = options.url === undefined ? 'TOLLGATE_URL' : '--url'
    throw new UsageError(
      `${named} means a gateway elsewhere, and ${beside} the one of this machine: use one of them`,
    )
  }
  const base = withoutEndSlash(checkedUrl(url))
  const token = tokenOf(options)
  return async (name, sent) => {
    const received = await ask({ base, token }, contract[name], sent as SentParts)
    const answer = contract[name].answer.safeParse(received)
    if (answer.success) return answer.data as AnswerOf<Contract[typeof name]>
    throw notUnderstood(base, 'another form than this version knows')
  }
}

/** What a command says that works on the database of this machine, or on its files. */
export function needsMachine(command: string): UsageError {
  return new UsageError(
    `tollgate ${command} works on the gateway's own machine: run it there, without --url and TOLLGATE_URL`,
  )
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

type Place = { readonly base: string; readonly token: string }

/** Answers with the JSON of a success, or its text. */
async function ask(
  { base, token }: Place,
  route: AdminRoute,
  { ifMatch, ...sent }: SentParts & Versioned,
): Promise<unknown> {
  const { body } = sent
  const response = await fetch(`${base}${addressOf(route, sent)}`, {
    method: route.method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    // Another address must not get the token.
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch((thrown: unknown) => {
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
    const why = codeOf(cause) ?? (cause instanceof Error ? cause.message : String(cause))
    throw new FailureError(`${base} cannot be reached (${why})`)
  })
  const text = await response.text()
  if (response.ok && route.media !== undefined) return text
  const answer = jsonOf(text)
  if (response.ok && answer !== undefined) return answer
  const refusal = adminError.safeParse(answer)
  if (refusal.success) throw new RemoteError(refusal.data.error)
  throw notUnderstood(base, `HTTP ${response.status}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function notUnderstood(base: string, what: string): FailureError {
  return new FailureError(
    `${base} does not answer like the admin API of Tollgate (${what}): check the URL, and its version`,
  )
}
