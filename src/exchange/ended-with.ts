// How a request ended, as the books show it: the status its client was given, and what went wrong.
import { CLIENT_GONE_STATUS, toGatewayError } from '../core/errors.ts'
import type { Settlement } from '../ledger/ledger.ts'
import { ClientGone } from './reply.ts'

type Ended = Pick<Settlement, 'status' | 'errorCode'>

const WELL: Ended = { status: 200, errorCode: null }
const GONE: Ended = { status: CLIENT_GONE_STATUS, errorCode: 'client_gone' }

/** Undefined = nothing went wrong. */
export function endedWith(failure: unknown): Ended {
  if (failure === undefined) return WELL
  if (failure instanceof ClientGone) return GONE
  const { status, code } = toGatewayError(failure)
  return { status, errorCode: code }
}
