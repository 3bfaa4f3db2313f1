// Puts the people of the admin plane together: who somebody is, and the handlers that sign them in and manage them.
import type { Store } from '../../store/open.ts'
import type { Log } from '../../telemetry/log.ts'
import type { HandlersOf } from '../call.ts'
import type { peopleRoutes } from '../contract/people.ts'
import type { profileRoutes } from '../contract/profile.ts'
import type { signInRoutes } from '../contract/sign-in.ts'
import type { Identity } from '../identity.ts'
import type { Mailer } from '../mail.ts'
import { personFinder } from './find-person.ts'
import type { PeopleParts } from './parts.ts'
import { peopleHandlers } from './people-handlers.ts'
import { profileHandlers } from './profile-handlers.ts'
import { listRoles, roleNamed } from './role-list.ts'
import { signInHandlers } from './sign-in-handlers.ts'
import type { SignIn } from './sign-in.ts'

export type PeopleOptions = {
  readonly store: Store
  readonly log: Log
  /** TOLLGATE_SECRET; what signs cookies is derived from it. */
  readonly secret: string
  readonly publicUrl: string
  readonly publicUrlIsWritten: boolean
  readonly oidc: OidcConfig | undefined
  readonly mailer: Mailer | undefined
}

type OidcConfig = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly name: string
  /** By its name. */
  readonly role?: string | undefined
  readonly trustEmail: boolean
}

export type People = {
  readonly identity: Identity
  readonly handlers: HandlersOf<typeof signInRoutes & typeof profileRoutes & typeof peopleRoutes>
}

export function openPeople(options: PeopleOptions): People {
  const { oidc, publicUrl, log } = options
  let signIn: Promise<SignIn> | undefined
  const parts: PeopleParts = {
    ...options,
    singleSignOnName: oidc?.name,
    signIn: () => {
      signIn ??= loadSignIn(options)
      return signIn
    },
  }
  if (!publicUrl.startsWith('https:')) {
    log.warn('sign_in_over_http', {
      message: `people sign in over plain HTTP (${publicUrl}): whoever is on the way can read passwords. Put a proxy with HTTPS in front and set admin.public_url`,
    })
  }
  return {
    identity: personFinder(parts),
    handlers: { ...signInHandlers(parts), ...profileHandlers(parts), ...peopleHandlers(parts) },
  }
}

async function loadSignIn(options: PeopleOptions): Promise<SignIn> {
  const { betterAuthSignIn } = await import('./better-auth.ts')
  const { oidc, store } = options
  if (oidc === undefined) return betterAuthSignIn({ ...options, oidc })
  // By its id, so that renaming a role harms nobody.
  const roleId = oidc.role && roleNamed(await listRoles(store.db), oidc.role).id
  return betterAuthSignIn({ ...options, oidc: { ...oidc, roleId } })
}
