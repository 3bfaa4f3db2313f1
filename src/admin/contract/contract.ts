// The whole admin API by route name: what the server answers, the web interface calls and the OpenAPI document lists.
import { alertRoutes } from './alerts.ts'
import { auditRoutes } from './audit.ts'
import { aboutRoutes, modelRoutes } from './gateway.ts'
import { frameRoutes, groupRoutes } from './groups.ts'
import { keyRoutes } from './keys.ts'
import { manifestRoutes } from './manifest.ts'
import { invitationRoutes, memberRoutes, peopleRoutes, wishRoutes } from './people.ts'
import { profileRoutes } from './profile.ts'
import type { RouteTable } from './route.ts'
import { signInRoutes } from './sign-in.ts'
import { playgroundRoutes } from './trial.ts'
import { refusalRoutes, requestRoutes, usageRoutes } from './usage.ts'

export const contract = {
  ...aboutRoutes,
  ...keyRoutes,
  ...groupRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...wishRoutes,
  ...frameRoutes,
  ...modelRoutes,
  ...usageRoutes,
  ...requestRoutes,
  ...refusalRoutes,
  ...auditRoutes,
  ...alertRoutes,
  ...manifestRoutes,
  ...playgroundRoutes,
  ...signInRoutes,
  ...profileRoutes,
  ...peopleRoutes,
} satisfies RouteTable

export type Contract = typeof contract
export type RouteName = keyof Contract
