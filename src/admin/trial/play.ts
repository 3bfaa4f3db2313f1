// The playground: a call whose answer is told as it comes, with an estimate of what it has cost so far, and at the end
// what it did cost. Whoever leaves ends the call, and its key is charged like that of any client that leaves a stream.
import { costOf } from '../../catalog/prices.ts'
import { likelyTokens } from '../../catalog/worst-case.ts'
import { NO_USAGE, type CanonicalEvent } from '../../core/events.ts'
import { newId } from '../../core/ids.ts'
import { usd } from '../../core/units.ts'
import { Meter } from '../../exchange/billing.ts'
import { ClientGone } from '../../exchange/reply.ts'
import { findKey } from '../../store/keys/keys.ts'
import { describeError } from '../../telemetry/log.ts'
import type { PlayEvent, playgroundRoutes, Progress } from '../contract/trial.ts'
import { partsOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { attempt } from './results.ts'
import { formatOf, StreamReply, textOf, type TrialRequest } from './run.ts'

/** So often a call that says nothing is said to go on: a proxy might take the connection for dead. */
const SILENCE_MS = 15_000

export function playgroundHandlers(parts: AdminParts): HandlersOf<typeof playgroundRoutes> {
  return {
    play: async (request) => {
      const { key: keyId, ...spoken } = request.body
      const within = partsOf(parts, request)
      const key = await findKey(within.store, keyId)
      const requestId = newId('req', parts.clock)
      return played(within, { ...spoken, key, requestId, isDryRun: false })
    },
  }
}

function played(parts: AdminParts, trial: TrialRequest): ReadableStream<PlayEvent> {
  let reply: StreamReply
  let silence: NodeJS.Timeout
  return new ReadableStream<PlayEvent>({
    start: (controller) => {
      const sum = new Sum(parts, trial)
      const told: CanonicalEvent[] = []
      reply = new StreamReply(formatOf(parts, trial), (events) => {
        told.push(...events)
        controller.enqueue(sum.after(events, reply.target))
      })
      const goOn = (): void => controller.enqueue(sum.after([], reply.target))
      silence = setInterval(goOn, SILENCE_MS).unref()
      controller.enqueue({ type: 'began', request_id: trial.requestId })
      const finish = async (): Promise<void> => {
        const result = await attempt(parts, trial, { reply, text: () => textOf(told) })
        clearInterval(silence)
        if (reply.gone !== undefined) return
        controller.enqueue({ type: 'result', ...result })
        controller.close()
      }
      finish().catch((thrown: unknown) => {
        clearInterval(silence)
        if (thrown instanceof ClientGone) return
        const cause = describeError(thrown)
        parts.log.error('admin_request_failed', { request_id: trial.requestId, cause })
        if (reply.gone === undefined) controller.error(thrown)
      })
    },
    cancel: () => {
      clearInterval(silence)
      reply.leave()
    },
  })
}

/** What a call has come to so far. */
class Sum {
  readonly #parts: AdminParts
  readonly #trial: TrialRequest
  readonly #meter = new Meter()
  readonly #inputTokens: number
  readonly #startedMs: number

  constructor(parts: AdminParts, trial: TrialRequest) {
    this.#parts = parts
    this.#trial = trial
    const said = trial.messages.map(({ content }) => content).join('\n')
    this.#inputTokens = likelyTokens(Buffer.byteLength(said))
    this.#startedMs = parts.clock.monotonicMs()
  }

  after(events: readonly CanonicalEvent[], target: string | undefined): Progress {
    const { clock, catalog } = this.#parts
    for (const event of events) this.#meter.see(event, clock)
    const { usage, outputBytes } = this.#meter
    const inputTokens = usage?.inputTokens || this.#inputTokens
    const output_tokens = Math.max(usage?.outputTokens ?? 0, likelyTokens(outputBytes))
    const model = catalog().get(this.#trial.model)
    const price = model?.targets.find(({ name }) => name === target)?.price
    const counted = { ...(usage ?? NO_USAGE), inputTokens, outputTokens: output_tokens }
    return {
      type: 'progress',
      text: textOf(events) ?? '',
      output_tokens,
      cost: price === undefined ? null : usd(costOf(counted, price).nanodollars),
      latency_ms: Math.round(clock.monotonicMs() - this.#startedMs),
    }
  }
}
