// Fields that one provider refuses although others of its format accept them. The provider's own code leaves them out;
// this reports them to the client, under the client's names.
import { clientName } from '../wire/contract/features.ts'
import type { ClientRequest } from './client-request.ts'
import type { Prepared } from './prepare.ts'

/** The same target, with what its provider will leave out added to `dropped`. */
export function tellingLeftOut(request: ClientRequest, prepared: Prepared): Prepared {
  const names = leftOutOf(request, prepared)
  if (names.length === 0) return prepared
  const { withoutSearches } = prepared
  const tell = (one: Prepared): Prepared => ({
    ...one,
    dropped: [...new Set([...one.dropped, ...names])],
  })
  return withoutSearches === undefined
    ? tell(prepared)
    : { ...tell(prepared), withoutSearches: tell(withoutSearches) }
}

function leftOutOf(request: ClientRequest, prepared: Prepared): readonly string[] {
  const { provider, format, model } = prepared
  if (provider.leavesOut === undefined) return []
  return provider
    .leavesOut({ format, model, body: prepared.content(), headers: request.providerHeaders })
    .flatMap((name) => clientName(name, { from: format, to: request.codec.format }) ?? [])
}
