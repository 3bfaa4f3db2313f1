// Every address of the interface and what it shows. State that can be shared is in the address: each route checks its
// own search parameters. Pages are loaded when they are first opened.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Permission } from '../../src/admin/contract/permissions.ts'
import { FailedPage } from './pages/failed.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { Loading } from './parts/loading.tsx'
import { aboutQuery } from './session.ts'
import { Shell } from './shell/shell.tsx'
import { textCrumb } from './shell/text-crumb.tsx'

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof newRouter>
  }
  interface StaticDataRouteOption {
    /** What the breadcrumb calls this page. */
    readonly crumb?: ComponentType
    /** Without it the page is not shown, and says which permission is missing. */
    readonly permission?: Permission
  }
}

type Context = { readonly queryClient: QueryClient }

const rootRoute = createRootRouteWithContext<Context>()({ component: Outlet })

const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/welcome.tsx'), 'WelcomePage'),
})

/** Everything that needs somebody signed in. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  component: Shell,
  beforeLoad: async ({ context }) => {
    await context.queryClient.ensureQueryData(aboutQuery)
  },
})

const apiAccessRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/api-access',
  staticData: { crumb: textCrumb('nav.apiAccess'), permission: 'configuration:read' },
})

const overviewRoute = createRoute({
  getParentRoute: () => apiAccessRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/api-access/overview.tsx'), 'OverviewPage'),
})

const routeTree = rootRoute.addChildren([
  welcomeRoute,
  appRoute.addChildren([apiAccessRoute.addChildren([overviewRoute])]),
])

export function newRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: FailedPage,
    defaultPendingComponent: Loading,
    scrollRestoration: true,
  })
}
