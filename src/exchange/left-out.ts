// What one provider refuses and others of its format take: it is left out there (the provider's own work), and named to
// the client in the client's words.
import { clientName } from '../wire/features.ts'
import type { ClientRequest } from './client-request.ts'
import type { Prepared } from './prepare.ts'

/** The same, telling also what the provider will leave out. */
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
