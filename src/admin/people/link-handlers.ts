// One-time links as a browser opens them.
import { iso } from '../../core/units.ts'
import type { HandlersOf } from '../call.ts'
import type { signInRoutes } from '../contract/sign-in.ts'
import { addressTries, limitTries, takeTriesBack } from './limits.ts'
import { findOpenLink, useOpenLink } from './links.ts'
import { storeFor, type PeopleParts, visitOf } from './parts.ts'
import { stepAnswer } from './sign-in-step.ts'

export function linkHandlers(
  parts: PeopleParts,
): Pick<HandlersOf<typeof signInRoutes>, 'lookAtLink' | 'useLink'> {
  return {
    async lookAtLink(call) {
      const store = storeFor(parts, call)
      const tries = addressTries('link', call.address)
      await limitTries(store, tries)
      const { kind, person, expiresAt } = await findOpenLink(store, call.body.token)
      await takeTriesBack(store, tries)
      return {
        kind,
        email: person?.email ?? null,
        name: person === undefined || person.name === '' ? null : person.name,
        expires_at: iso(expiresAt),
      }
    },

    async useLink(call) {
      const store = storeFor(parts, call)
      const tries = addressTries('link', call.address)
      await limitTries(store, tries)
      const { email } = await useOpenLink(store, call.body)
      await takeTriesBack(store, tries)
      const signIn = await parts.signIn()
      const { password } = call.body
      const outcome = await signIn.signIn(visitOf(call), { email, password })
      return stepAnswer(store, outcome, call.setHeader)
    },
  }
}
