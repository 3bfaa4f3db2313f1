// Idempotency-Key: a request that is sent twice is done once, and the second gets the answer to the first.
import { hash } from 'node:crypto'
import { sentence } from '../../core/sentences.ts'
import type { Store } from '../../store/database/store.ts'
import { claim, keepAnswer, releaseClaim } from '../../store/idempotency.ts'
import { AdminError, invalidValue } from '../contract/errors.ts'
import { toAdminError } from './errors.ts'
import type { RequestHeaders } from './guard.ts'

type RepeatableRequest = {
  readonly headers: RequestHeaders
  readonly personId: string
  /** The route and everything sent to it. */
  readonly request: unknown
}

export async function idempotently(
  store: Store,
  sent: RepeatableRequest,
  run: () => Promise<unknown>,
): Promise<{ readonly answer: unknown; readonly isRepeated: boolean }> {
  const name = nameOf(sent.headers)
  if (name === undefined) return { answer: await run(), isRepeated: false }
  const requestHash = hash('sha256', JSON.stringify(sent.request), 'hex')
  const wanted = { personId: sent.personId, name, requestHash }
  const claimed = await claim(store, wanted)
  if (!claimed.claimed) return { answer: firstAnswer(claimed), isRepeated: true }
  try {
    const answer = await run()
    await keepAnswer(store, wanted, JSON.stringify(withoutSecret(answer)))
    return { answer, isRepeated: false }
  } catch (thrown) {
    // After a refusal nothing was done. After a fault that is unknown, so the name stays taken.
    if (toAdminError(thrown).status < 500) await releaseClaim(store, wanted)
    throw thrown
  }
}

const NAME_LENGTH_MAX = 255

function nameOf(headers: RequestHeaders): string | undefined {
  const name = headers['idempotency-key']
  if (name === undefined) return undefined
  if (typeof name === 'string' && name !== '' && name.length <= NAME_LENGTH_MAX) return name
  const why = sentence('idempotency_key_shape', { most: NAME_LENGTH_MAX })
  throw invalidValue('Idempotency-Key', why)
}

function firstAnswer(first: { readonly answer: string | null; readonly isSame: boolean }): unknown {
  if (first.isSame && first.answer !== null) return JSON.parse(first.answer) as unknown
  const why = first.isSame ? 'idempotency_key_running' : 'idempotency_key_taken'
  throw new AdminError('idempotency_conflict', sentence(why))
}

/** A secret is shown only once, in the first answer. */
function withoutSecret(answer: unknown): unknown {
  return { ...Object(answer), ...('secret' in Object(answer) ? { secret: null } : {}) } as unknown
}
