// A request as the edge received it, and the key behind it: what every handler of the data plane begins with.
import type { Authenticator, Credentials } from '../access/authenticate.ts'
import { authenticate } from '../access/authenticate.ts'
import type { Caller } from '../access/caller.ts'
import type { LastUse } from '../access/last-use.ts'
import { permitEndpoint } from '../access/permit.ts'
import { StaleKey } from '../access/refusal.ts'
import type { Endpoint } from '../core/endpoints.ts'
import type { Trace } from './trace.ts'

export type Asking = {
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly credentials: Credentials
  readonly trace: Trace
  /** Whether the client asks for a dry run. Throws if the value it gives is not understood. */
  readDryRun(): boolean
}

export type IdentifyParts = {
  readonly authenticator: Authenticator
  readonly lastUse: Pick<LastUse, 'note'>
}

/** The calling key, if it may call this endpoint. */
export async function identify(
  parts: IdentifyParts,
  { endpoint, credentials, trace }: Asking,
): Promise<Caller> {
  const caller = await authenticate(parts.authenticator, credentials, trace)
  parts.lastUse.note(caller)
  permitEndpoint(caller, endpoint)
  return caller
}

/** Runs a handler, and runs it again if the calling key was changed in the meantime. */
export function withCurrentKey(
  { authenticator }: Pick<IdentifyParts, 'authenticator'>,
  handle: () => Promise<void>,
): Promise<void> {
  // Not awaited: an async function suspended while a stream is open adds half a kilobyte to each stream.
  return handle().catch((thrown: unknown) => {
    if (!(thrown instanceof StaleKey)) throw thrown
    authenticator.forget()
    return handle()
  })
}
