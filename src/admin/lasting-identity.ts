// Identifies callers of /metrics as everywhere in the admin API and, while the database does not answer, by tokens that
// were good within the last hour. Only for the page that reports the outage: a token revoked meanwhile still opens it.
import type { Clock } from '../core/clock.ts'
import { hashSecret } from '../core/secret.ts'
import { HOUR_MS } from '../core/units.ts'
import { answerWithin } from '../store/database/outage.ts'
import { AdminError } from './error.ts'
import type { Identity, Person } from './identity.ts'

const IDENTITY_MS_MAX = 1_000
const KNOWN_FOR_MS = HOUR_MS

export function lastingIdentity(identity: Identity, clock: Clock): Identity {
  /** By the hash of the Authorization header. */
  const known = new Map<string, { readonly person: Person; readonly untilMs: number }>()
  const forgetOld = (): void => {
    for (const [sent, { untilMs }] of known) if (untilMs <= clock.monotonicMs()) known.delete(sent)
  }
  return {
    find: async (request) => {
      const sent = hashSecret(String(request.headers['authorization'] ?? ''))
      forgetOld()
      try {
        const person = await answerWithin(IDENTITY_MS_MAX, identity.find(request))
        known.delete(sent)
        if (person?.via === 'token') {
          known.set(sent, { person, untilMs: clock.monotonicMs() + KNOWN_FOR_MS })
        }
        return person
      } catch (thrown) {
        const last = known.get(sent)
        if (thrown instanceof AdminError || last === undefined) throw thrown
        return last.person
      }
    },
  }
}
