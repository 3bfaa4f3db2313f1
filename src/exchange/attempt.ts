// Targets in order until one answers. Another target is tried only while the client has seen nothing and the failure
// may be the target's own; what a provider says about the request itself goes back to the client.
import { GatewayError } from '../core/errors.ts'
import type { UpstreamAnswer } from '../providers/provider.ts'
import { codecOf } from '../wire/codecs.ts'
import type { Books } from './books.ts'
import { readFailure } from './failure.ts'
import type { Prepared } from './prepare.ts'
import type { Reply } from './reply.ts'

export type Answer = UpstreamAnswer & { readonly prepared: Prepared }

export type Attempts = {
  readonly prepared: readonly Prepared[]
  readonly outputTokensMax: number | undefined
  readonly stream: boolean
  /** The client's headers that providers may see. */
  readonly headers: ReadonlyMap<string, string>
  readonly books: Books
  readonly reply: Reply
  readonly signal: AbortSignal
}

/** Calls targets until `use` has taken one's answer, and returns what it made of it. */
export async function attempt<Ending>(
  attempts: Attempts,
  use: (answer: Answer) => Promise<Ending>,
): Promise<Ending> {
  let failure: unknown
  for (const prepared of attempts.prepared) {
    try {
      const answer = await send(attempts, prepared)
      const ending = await use({ ...answer, prepared })
      attempts.books.noteAttempt('answered')
      return ending
    } catch (thrown) {
      failure = thrown
      const error = thrown instanceof GatewayError ? thrown : undefined
      attempts.books.noteAttempt(error?.code ?? 'given up')
      const isElsewhere = error?.retry === 'elsewhere' && !attempts.signal.aborted
      if (!isElsewhere || attempts.reply.hasBegun) throw thrown
    }
  }
  throw failure
}

async function send(attempts: Attempts, prepared: Prepared): Promise<UpstreamAnswer> {
  const { books, signal } = attempts
  signal.throwIfAborted()
  const body = prepared.encode(attempts.outputTokensMax)
  books.dispatch(prepared)
  const answer = await prepared.provider.send(
    {
      format: prepared.format,
      model: prepared.model,
      stream: attempts.stream,
      body,
      headers: attempts.headers,
      timeouts: prepared.timeouts,
    },
    signal,
  )
  if (answer.status !== 200) throw await readFailure(answer, codecOf(prepared.format))
  return answer
}
