// A request that a person makes with a key without knowing its secret: through the gateway's own flow, subject to every
// limit of that key, and spending from it.
import { assertUsable, callerOfKey, withCurrentKey } from '../../access/authenticate.ts'
import { permitEndpoint } from '../../access/permit.ts'
import type { Endpoint, Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import { exchange } from '../../exchange/exchange.ts'
import type { Reply } from '../../exchange/reply.ts'
import type { Key } from '../../store/keys/keys.ts'
import type { Trace } from '../../telemetry/trace.ts'
import { CODECS } from '../../wire/codecs.ts'
import type { AdminParts } from '../http/request.ts'

export type TrialRequest = {
  readonly key: Key
  readonly model: string
  readonly messages: readonly TrialMessage[]
  readonly outputTokensMax: number
  readonly temperature?: number | undefined
  readonly isDryRun: boolean
}

/** Somebody who is signed in called, not an application. */
const PERSON = { userAgent: undefined, address: null }

type TrialMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

type TrialAnswer = { readonly format: Format; readonly body: unknown }

/** Throws the GatewayError that the data plane would have answered with. */
export async function runTrial(
  parts: AdminParts,
  requestId: string,
  trial: TrialRequest,
): Promise<TrialAnswer> {
  const { flow, store, clock } = parts
  const format = formatOf(parts, trial)
  const body = Buffer.from(JSON.stringify(bodyOf(format, trial)))
  const reply = new MemoryReply()
  const trace: Trace = { requestId, endpoint: format, keyId: trial.key.id }
  const run = async (): Promise<void> => {
    const caller = await callerOfKey(store, trial.key.id)
    trace.groupId = caller.groupId
    assertUsable(caller, clock.now())
    // Checking whether a key would work does not count as using it.
    if (!trial.isDryRun) flow.lastUse.note(caller)
    permitEndpoint(caller, format)
    const inbound = {
      requestId,
      caller,
      endpoint: format,
      codec: CODECS[format],
      id: '',
      query: new URLSearchParams(),
      providerHeaders: new Map(),
      dropped: [],
      session: undefined,
      endUser: undefined,
      tags: undefined,
      startedMs: clock.monotonicMs(),
      trace,
      traceHeaders: {},
      readDryRun: () => trial.isDryRun,
      readBody: async () => body,
      releaseBody: () => {},
    }
    await exchange(flow, inbound, reply)
  }
  await withCurrentKey(run, () => {}).catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && !trial.isDryRun)
      flow.refusals.note({ error: thrown, trace, client: () => PERSON })
    throw thrown
  })
  return { format, body: reply.body }
}

/** The endpoint that a program with this key would use for this model; if it may use none, the first. */
export function formatOf(
  { catalog }: AdminParts,
  { key, model }: Pick<TrialRequest, 'key' | 'model'>,
): Format & Endpoint {
  if (catalog().get(model)?.kind === 'embedding') return 'embeddings'
  const formats = ['chat', 'messages', 'responses'] as const
  return formats.find((format) => key.permissions.includes(format)) ?? 'chat'
}

/** The text of the answer. */
export function textOf({ format, body }: TrialAnswer): string | null {
  switch (format) {
    case 'embeddings':
      return null
    case 'chat':
      return (body as ChatAnswer).choices[0]?.message.content ?? null
    case 'messages':
      return textsOf((body as MessagesAnswer).content)
    case 'responses':
      return textsOf((body as ResponsesAnswer).output.flatMap(({ content = [] }) => content))
  }
}

type ChatAnswer = {
  readonly choices: readonly { readonly message: { readonly content: string | null } }[]
}
type Texts = readonly { readonly text?: string }[]
type MessagesAnswer = { readonly content: Texts }
type ResponsesAnswer = { readonly output: readonly { readonly content?: Texts }[] }

function textsOf(parts: Texts): string {
  return parts.map(({ text = '' }) => text).join('')
}

function bodyOf(
  format: Format,
  { model, messages, outputTokensMax, temperature }: TrialRequest,
): object {
  const spoken = messages.filter(({ role }) => role !== 'system')
  const told = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  // JSON leaves out what is undefined.
  const system = told.length === 0 ? undefined : told.join('\n\n')
  const common = { model, temperature }
  switch (format) {
    case 'embeddings':
      return { model, input: messages.map(({ content }) => content) }
    case 'chat':
      return { ...common, messages, max_completion_tokens: outputTokensMax }
    case 'messages':
      return { ...common, messages: spoken, max_tokens: outputTokensMax, system }
    case 'responses': {
      const limits = { max_output_tokens: outputTokensMax, store: false }
      return { ...common, ...limits, input: spoken, instructions: system }
    }
  }
}

/** A reply without a socket: keeps in memory what the flow would have sent. */
class MemoryReply implements Reply {
  readonly #gone = new AbortController()
  readonly gone = undefined
  readonly closed = this.#gone.signal
  hasBegun = false
  #body = ''

  get body(): unknown {
    return JSON.parse(this.#body)
  }

  cut(why: GatewayError): void {
    this.#gone.abort(why)
  }

  setHeader(): void {}

  /** Never called: only whole answers are requested here. */
  beginStream(): void {}

  async write(event: string): Promise<void> {
    this.hasBegun = true
    this.#body += event
  }

  async end(last: string): Promise<void> {
    this.#body += last
  }
}
