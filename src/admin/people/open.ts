// Assembles the people part of the admin plane: who a caller is, and the handlers that sign people in and manage them.
import type { HttpClient } from '../../providers/upstream/http.ts'
import type { Store } from '../../store/database/store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { HandlersOf } from '../call.ts'
import type { peopleRoutes } from '../contract/people.ts'
import type { profileRoutes } from '../contract/profile.ts'
import type { signInRoutes } from '../contract/sign-in.ts'
import { AdminError } from '../error.ts'
import type { Identity } from '../identity.ts'
import type { Mailer } from '../mail.ts'
import { personFinder } from './find-person.ts'
import type { OidcSettings } from './identity-provider.ts'
import type { PeopleParts } from './parts.ts'
import { peopleHandlers } from './people-handlers.ts'
import { profileHandlers } from './profile-handlers.ts'
import { listRoles, roleNamed } from './role-list.ts'
import { signInHandlers } from './sign-in-handlers.ts'
import type { SignIn } from './sign-in.ts'

export type PeopleOptions = {
  readonly store: Store
  readonly log: Log
  /** TOLLGATE_SECRET; the secret that signs cookies is derived from it. */
  readonly secret: string
  readonly publicUrl: string
  readonly publicUrlIsWritten: boolean
  /** Whether only this machine reaches the interface. */
  readonly isLocal: boolean
  readonly oidc: OidcConfig | undefined
  readonly http: HttpClient
  readonly mailer: Mailer | undefined
}

type OidcConfig = Omit<OidcSettings, 'roleId'> & {
  readonly name: string
  /** By its name. */
  readonly role?: string | undefined
}

type People = {
  readonly identity: Identity
  readonly handlers: HandlersOf<typeof signInRoutes & typeof profileRoutes & typeof peopleRoutes>
}

export function openPeople(options: PeopleOptions): People {
  const { oidc, publicUrl, isLocal, log } = options
  let signIn: Promise<SignIn> | undefined
  const parts: PeopleParts = {
    ...options,
    singleSignOnName: oidc?.name,
    signIn: () => {
      signIn ??= loadSignIn(options).catch((thrown: unknown) => {
        // The next attempt may succeed: a database that was away may be back.
        signIn = undefined
        throw thrown
      })
      return signIn
    },
  }
  if (!publicUrl.startsWith('https:') && !isLocal) {
    log.warn('sign_in_over_http', {
      message: `people sign in over plain HTTP (${publicUrl}): anyone on the network can read passwords. Put a proxy with HTTPS in front and set admin.public_url`,
    })
  }
  return {
    identity: personFinder(parts),
    handlers: { ...signInHandlers(parts), ...profileHandlers(parts), ...peopleHandlers(parts) },
  }
}

async function loadSignIn(options: PeopleOptions): Promise<SignIn> {
  const { betterAuthSignIn } = await import('./better-auth.ts')
  const { oidc } = options
  const roleId = oidc?.role === undefined ? undefined : await roleIdOf(options, oidc.role)
  return betterAuthSignIn({ ...options, oidc: oidc && { ...oidc, roleId } })
}

/** Resolved to an id once, so that renaming the role changes nothing. An unknown role lets nobody in uninvited. */
async function roleIdOf({ store, log }: PeopleOptions, name: string): Promise<string | undefined> {
  try {
    return roleNamed(await listRoles(store.db), name).id
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    log.error('single_sign_on_role_unknown', { message: `admin.oidc.role: ${error.message}` })
    return undefined
  }
}
