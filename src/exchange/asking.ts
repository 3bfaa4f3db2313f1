// A request as the edge received it, and who is behind it: what every handler of the data plane begins with.
import type { Authenticator, Credentials } from '../access/authenticate.ts'
import { authenticate } from '../access/authenticate.ts'
import type { Caller } from '../access/caller.ts'
import type { LastUse } from '../access/last-use.ts'
import { permitEndpoint } from '../access/permit.ts'
import { refusalOf, StaleKey } from '../access/refusal.ts'
import type { Catalog } from '../catalog/models.ts'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import { FREE } from '../ledger/ledger.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { setBalanceHeaders } from './answer-headers.ts'
import type { Reply } from './reply.ts'
import type { Trace } from './trace.ts'

export type Asking = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly credentials: Credentials
  readonly trace: Trace
}

/** The key that calls, if it may call this endpoint. */
export async function identify(
  parts: { readonly authenticator: Authenticator; readonly lastUse: Pick<LastUse, 'note'> },
  { endpoint, credentials, trace }: Asking,
): Promise<Caller> {
  const caller = await authenticate(parts.authenticator, credentials)
  trace.keyId = caller.keyId
  parts.lastUse.note(caller)
  permitEndpoint(caller, endpoint)
  return caller
}

/** Runs a handler, and once more when the key that called was changed in between. */
export function withCurrentKey(
  { authenticator }: { readonly authenticator: Authenticator },
  handle: () => Promise<void>,
): Promise<void> {
  // Not awaited: a function that waits for as long as a stream is open takes half a kilobyte of it.
  return handle().catch((thrown: unknown) => {
    if (!(thrown instanceof StaleKey)) throw thrown
    authenticator.forget()
    return handle()
  })
}

/** Lets a request through that costs nothing: the budgets always pay for it, the rate limits count it. */
export async function admitFree(
  parts: { readonly ledger: Ledger; readonly clock: Clock },
  caller: Caller,
  {
    asking,
    model,
    reply,
  }: { readonly asking: Asking; readonly model: string; readonly reply: Reply },
): Promise<void> {
  const outcome = await parts.ledger.reserve({
    requestId: asking.requestId,
    keyId: caller.keyId,
    allowVersion: caller.allowVersion,
    endpoint: asking.endpoint,
    modelAsked: model,
    worstCase: FREE,
    whenTight: caller.whenTight,
    estimatedTokens: 0,
    recounted: true,
  })
  const { family } = asking.credentials
  if ('balances' in outcome) {
    setBalanceHeaders(reply, outcome.balances, { family, now: parts.clock.now() })
  }
  if (!outcome.reserved) throw refusalOf(caller, outcome)
  await parts.ledger.void(outcome.holdId, 'costs nothing')
}

export type ListingParts = {
  readonly authenticator: Authenticator
  readonly lastUse: Pick<LastUse, 'note'>
  readonly ledger: Ledger
  readonly clock: Clock
  catalog(): Catalog
}
