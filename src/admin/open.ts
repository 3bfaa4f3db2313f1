// Assembles the admin plane from the gateway's parts. Loaded on the first request to it, because a gateway without
// visitors should start fast and stay small.
import { iso } from '../core/units.ts'
import type { HttpClient } from '../providers/upstream/http.ts'
import type { AlertParts } from './alerts/destinations.ts'
import { alertHandlers } from './alerts/handlers.ts'
import { contract } from './contract/contract.ts'
import { AdminError } from './contract/errors.ts'
import type { aboutRoutes } from './contract/gateway.ts'
import { MEMBER_ROLE } from './contract/permissions.ts'
import { groupHandlers, invitationHandlers, memberHandlers } from './groups/handlers.ts'
import { wishHandlers } from './groups/wishes.ts'
import { makeMetrics } from './http/metrics.ts'
import { openApi } from './http/openapi.ts'
import type { Handlers, HandlersOf } from './http/request.ts'
import { makeAdminServer, type AdminServer } from './http/server.ts'
import { frameHandlers, keyHandlers } from './keys/handlers.ts'
import { manifestHandlers } from './manifest/plan.ts'
import type { OidcSettings } from './people/identity-provider.ts'
import { personFinder, type PeopleParts, type RequiredOf } from './people/identity.ts'
import { peopleHandlers } from './people/people-handlers.ts'
import { profileHandlers } from './people/profile-handlers.ts'
import { listRoles, roleNamed } from './people/roles.ts'
import { signInHandlers } from './people/sign-in-handlers.ts'
import type { Claims, SignIn, SignOnGroups } from './people/sign-in.ts'
import { isNamed } from './people/sign-on-groups.ts'
import { auditHandlers } from './reports/audit.ts'
import { modelHandlers } from './reports/models.ts'
import { refusalHandlers, requestHandlers, usageHandlers } from './reports/usage.ts'
import { playgroundHandlers } from './trial/play.ts'

export type AdminOptions = AlertParts & {
  /** TOLLGATE_SECRET; the secret that signs cookies is derived from it. */
  readonly secret: string
  readonly publicUrlIsWritten: boolean
  /** Whether only this machine reaches the interface. */
  readonly isLocal: boolean
  readonly oidc: OidcConfig | undefined
  readonly signOnGroups: SignOnGroups | undefined
  readonly requireSecondFactor: RequiredOf
  readonly inactiveDays: number | null
  readonly http: HttpClient
}

type OidcConfig = Omit<OidcSettings, 'roleId' | 'mayCome'> & {
  readonly name: string
  /** By its name. */
  readonly role?: string | undefined
}

export function openAdmin(options: AdminOptions): Promise<AdminServer> {
  const { publicUrl, isLocal, log } = options
  if (!publicUrl.startsWith('https:') && !isLocal) {
    log.warn('sign_in_over_http', {
      message: `people sign in over plain HTTP (${publicUrl}): anyone on the network can read passwords. Put a proxy with HTTPS in front and set admin.public_url`,
    })
  }
  const people = peopleParts(options)
  const handlers: Handlers = {
    ...adminHandlers(options),
    ...signInHandlers(people),
    ...profileHandlers(people),
    ...peopleHandlers(people),
    ...invitationHandlers(people),
  }
  const metrics = makeMetrics(options)
  return makeAdminServer({ ...options, identify: personFinder(people), handlers, metrics })
}

/** All handlers except those of people. */
export function adminHandlers(parts: AlertParts) {
  return {
    ...aboutHandlers(parts),
    ...keyHandlers(parts),
    ...groupHandlers(parts),
    ...memberHandlers(parts),
    ...wishHandlers(parts),
    ...frameHandlers(parts),
    ...modelHandlers(parts),
    ...usageHandlers(parts),
    ...requestHandlers(parts),
    ...refusalHandlers(parts),
    ...auditHandlers(parts),
    ...alertHandlers(parts),
    ...manifestHandlers(parts),
    ...playgroundHandlers(parts),
  }
}

function aboutHandlers(parts: AlertParts): HandlersOf<typeof aboutRoutes> {
  return {
    readOpenApi: async () => openApi(contract, { version: parts.version, url: parts.publicUrl }),
    about: async ({ address }) => ({
      version: parts.version,
      base_url: parts.baseUrl(),
      now: iso(parts.clock.now()),
      address,
      auth_headers: parts.authHeaders(),
      email_available: parts.mailer !== undefined,
    }),
  }
}

function peopleParts(options: AdminOptions): PeopleParts {
  let signIn: Promise<SignIn> | undefined
  return {
    ...options,
    singleSignOnName: options.oidc?.name,
    usualRole: () => usualRole(options),
    signIn: () => {
      signIn ??= loadSignIn(options).catch((thrown: unknown) => {
        // The next attempt may succeed: a database that was away may be back.
        signIn = undefined
        throw thrown
      })
      return signIn
    },
  }
}

async function loadSignIn(options: AdminOptions): Promise<SignIn> {
  const { betterAuthSignIn } = await import('./people/better-auth.ts')
  const { oidc, signOnGroups: groups } = options
  const role = await usualRole(options)
  // Whoever an entry is for may come; what they may do is decided at the end of each sign-on.
  const roleId = role ?? (groups && MEMBER_ROLE.id)
  const mayCome = (claims: Claims): boolean =>
    role !== undefined || (groups !== undefined && isNamed(groups, claims))
  return betterAuthSignIn({ ...options, oidc: oidc && { ...oidc, roleId, mayCome } })
}

async function usualRole(options: AdminOptions): Promise<string | undefined> {
  const { oidc } = options
  return oidc?.role === undefined ? undefined : roleIdOf(options, oidc.role)
}

/** Resolved to an id once, so that renaming the role changes nothing. An unknown role lets nobody in uninvited. */
async function roleIdOf({ store, log }: AdminOptions, name: string): Promise<string | undefined> {
  try {
    return roleNamed(await listRoles(store.db), name).id
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    log.error('single_sign_on_role_unknown', { message: `admin.oidc.role: ${error.message}` })
    return undefined
  }
}
