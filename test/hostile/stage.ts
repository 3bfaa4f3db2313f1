// A real gateway process between a client and a hostile provider, with access to its books.

import { systemClock } from '../../src/core/clock.ts'
import type { Explanation } from '../../src/ledger/reports/requests.ts'
import { explain } from '../../src/ledger/reports/requests.ts'
import type { Violation } from '../../src/ledger/reports/verify.ts'
import { verifyLedger } from '../../src/ledger/reports/verify.ts'
import { LEDGER_THREAD_MODULE } from '../../src/ledger/sqlite/runner.ts'
import { openStore } from '../../src/store/open.ts'
import type { LogLine, TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { freshSqlite } from '../support/store.ts'
import { until } from '../support/until.ts'

export type Stage = AsyncDisposable & {
  readonly gateway: TestGateway
  ask(model: string, asked?: Asked): Promise<Answer>
  /** The log line of an answered request. */
  logOf(answer: Pick<Answer, 'headers'>): Promise<LogLine>
  /** The log lines of requests for a model, once there are this many. */
  logsOf(model: string, count: number): Promise<readonly LogLine[]>
  /** The explanation of an answered request from the books. */
  explain(answer: Answer): Promise<Explanation>
  verify(): Promise<readonly Violation[]>
}

export type Asked = {
  readonly stream?: boolean
  readonly content?: string
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The model's text, as far as it came. */
  readonly content: string
  /** Whether the format's end marker arrived. */
  readonly isComplete: boolean
  readonly errorCode: string | undefined
}

/** `models`: the allowlist of the stage's key. */
export async function startStage(config: string, models: readonly string[]): Promise<Stage> {
  const database = await freshSqlite()
  const gateway = await startGateway({ config, database: database.url })
  const books = await openStore(database.url, {
    clock: systemClock,
    threadModules: [LEDGER_THREAD_MODULE],
  })
  const secret = await gateway.key('hostile', models.join(','))
  return {
    gateway,
    ask: (model, asked = {}) => ask(gateway.url, model, { secret, ...asked }),
    logOf: ({ headers }) =>
      until(() =>
        gateway
          .log()
          .find(
            ({ event, request_id }) =>
              event === 'request' && request_id === headers.get('x-request-id'),
          ),
      ),
    logsOf: (model, count) =>
      until(() => {
        const lines = gateway.log().filter((line) => line['model'] === model)
        return lines.length < count ? undefined : lines
      }),
    explain: ({ headers }) => explain(books, headers.get('x-request-id') ?? ''),
    verify: () => verifyLedger(books),
    [Symbol.asyncDispose]: async () => {
      await books.close()
      await gateway.stop()
      await database.drop()
    },
  }
}

async function ask(
  url: string,
  model: string,
  { stream = false, content = 'When does the gate open?', secret, headers, signal }: Asked,
): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${secret}`,
      ...headers,
    },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const events = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
    : [text]
  const parsed = events
    .filter((event) => event.startsWith('{'))
    .map((event) => JSON.parse(event) as ChatObject)
  return {
    status: response.status,
    headers: response.headers,
    text,
    content: parsed
      .flatMap(({ choices = [] }) => choices)
      .map(({ delta, message }) => delta?.content ?? message?.content ?? '')
      .join(''),
    isComplete: stream ? events.includes('[DONE]') : response.status === 200,
    errorCode: parsed.find(({ error }) => error !== undefined)?.error?.code,
  }
}

type ChatObject = {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string }
    readonly message?: { readonly content?: string }
  }[]
  readonly error?: { readonly code: string }
}
