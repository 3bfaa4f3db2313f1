// Every address of the interface and the page it shows. Shareable state lives in the address: each route validates its
// own search parameters. Pages load when they are first opened.
import { type QueryClient, useQuery } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
  useParams,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Permission } from '../../src/admin/contract/permissions.ts'
import { LINK_KINDS, LINK_PAGES } from '../../src/admin/contract/sign-in.ts'
import {
  auditSearch,
  detailSearch,
  groupSearch,
  groupsSearch,
  keyQueryOf,
  modelsSearch,
  newKeySearch,
  overviewSearch,
  playgroundSearch,
  requestsSearch,
  signInSearch,
  startPage,
  usageSearch,
} from './base/address.ts'
import { groupQuery, keyQuery, keysQuery } from './base/queries.ts'
import { sessionQuery, useSession } from './base/session.ts'
import { type TextKey, useTranslation } from './i18n/i18n.ts'
import { FailedPage, NotFoundPage, NowherePage } from './pages/errors.tsx'
import { Loading } from './parts/notices.tsx'
import { pageOnDemand } from './parts/on-demand.tsx'
import { Shell } from './shell/shell.tsx'

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof newRouter>
  }
  interface StaticDataRouteOption {
    /** What the breadcrumb calls this page. */
    readonly crumb?: ComponentType
    /** Required to see the page; without it the page names the missing permission. */
    readonly permission?: Permission | readonly Permission[]
    /** Where that must be held; absent = within a group is enough. */
    readonly where?: 'everywhere'
  }
}

const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NowherePage,
})

const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { person } = await context.queryClient.ensureQueryData(sessionQuery)
    throw redirect({ to: person ? startPage(person) : '/sign-in', replace: true })
  },
})

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: pageOnDemand(async () => (await import('./pages/sign-in/sign-in.tsx')).SignInPage),
})

/** One-time links: the first administrator, an invitation, a forgotten password. */
const linkRoutes = LINK_KINDS.map((kind) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path: LINK_PAGES[kind],
    component: pageOnDemand(async () => (await import('./pages/sign-in/link.tsx')).LinkPage),
  }),
)

/** Everything that requires a signed-in person. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const { person } = await context.queryClient.ensureQueryData(sessionQuery)
    if (person) return
    const next = location.href === '/' ? undefined : location.href
    throw redirect({ to: '/sign-in', search: { next }, replace: true })
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
  validateSearch: overviewSearch,
  loaderDeps: ({ search }) => keyQueryOf(search),
  // Asked for before the page is drawn, which would otherwise be drawn twice.
  loader: ({ context, deps }) => {
    const session = context.queryClient.getQueryData(sessionQuery.queryKey)
    if (session?.person?.permissions.includes('configuration:read'))
      void context.queryClient.prefetchQuery(keysQuery(deps))
  },
  component: pageOnDemand(async () => (await import('./pages/keys/overview.tsx')).OverviewPage),
})

const newKeyRoute = createRoute({
  getParentRoute: () => apiAccessRoute,
  path: '/new',
  staticData: { crumb: textCrumb('keyForm.createTitle'), permission: 'configuration:manage' },
  validateSearch: newKeySearch,
  component: pageOnDemand(async () => (await import('./pages/keys/form/new-key.tsx')).NewKeyPage),
})

const keyRoute = createRoute({
  getParentRoute: () => apiAccessRoute,
  path: '/$id',
  staticData: { crumb: KeyCrumb },
})

const detailRoute = createRoute({
  getParentRoute: () => keyRoute,
  path: '/',
  validateSearch: detailSearch,
  component: pageOnDemand(async () => (await import('./pages/keys/detail/detail.tsx')).DetailPage),
})

const editRoute = createRoute({
  getParentRoute: () => keyRoute,
  path: '/edit',
  staticData: { crumb: textCrumb('action.edit'), permission: 'configuration:manage' },
  component: pageOnDemand(async () => (await import('./pages/keys/form/edit-key.tsx')).EditKeyPage),
})

const frameRoute = createRoute({
  getParentRoute: () => apiAccessRoute,
  path: '/frame',
  staticData: {
    crumb: textCrumb('nav.frame'),
    permission: 'configuration:read',
    where: 'everywhere',
  },
  component: pageOnDemand(async () => (await import('./pages/frame/frame.tsx')).FramePage),
})

const myKeysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/my-keys',
  staticData: { crumb: textCrumb('nav.myKeys') },
  component: pageOnDemand(async () => (await import('./pages/my-keys/my-keys.tsx')).MyKeysPage),
})

const groupsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/groups',
  staticData: { crumb: textCrumb('nav.groups'), permission: 'configuration:read' },
})

const groupListRoute = createRoute({
  getParentRoute: () => groupsRoute,
  path: '/',
  validateSearch: groupsSearch,
  component: pageOnDemand(async () => (await import('./pages/groups/groups.tsx')).GroupsPage),
})

const newGroupRoute = createRoute({
  getParentRoute: () => groupsRoute,
  path: '/new',
  staticData: { crumb: textCrumb('groupForm.createTitle'), permission: 'configuration:manage' },
  component: pageOnDemand(async () => (await import('./pages/groups/new-group.tsx')).NewGroupPage),
})

const groupRoute = createRoute({
  getParentRoute: () => groupsRoute,
  path: '/$id',
  staticData: { crumb: GroupCrumb },
})

const groupDetailRoute = createRoute({
  getParentRoute: () => groupRoute,
  path: '/',
  validateSearch: groupSearch,
  component: pageOnDemand(async () => (await import('./pages/groups/detail.tsx')).GroupPage),
})

const editGroupRoute = createRoute({
  getParentRoute: () => groupRoute,
  path: '/edit',
  staticData: { crumb: textCrumb('action.edit'), permission: 'configuration:manage' },
  component: pageOnDemand(
    async () => (await import('./pages/groups/edit-group.tsx')).EditGroupPage,
  ),
})

const wishesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/wishes',
  staticData: { crumb: textCrumb('nav.wishes'), permission: 'configuration:read' },
  component: pageOnDemand(async () => (await import('./pages/wishes/wishes.tsx')).WishesPage),
})

const modelsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/models',
  staticData: { crumb: textCrumb('nav.models'), permission: 'configuration:read' },
  validateSearch: modelsSearch,
  component: pageOnDemand(async () => (await import('./pages/models/models.tsx')).ModelsPage),
})

const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/usage',
  staticData: { crumb: textCrumb('nav.usage'), permission: 'usage:read' },
  validateSearch: usageSearch,
  component: pageOnDemand(async () => (await import('./pages/usage/usage.tsx')).UsagePage),
})

const requestsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/requests',
  staticData: { crumb: textCrumb('nav.requests'), permission: 'requests:read' },
  validateSearch: requestsSearch,
  component: pageOnDemand(async () => (await import('./pages/requests/requests.tsx')).RequestsPage),
})

const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/audit',
  staticData: { crumb: textCrumb('nav.audit'), permission: 'audit:read' },
  validateSearch: auditSearch,
  component: pageOnDemand(async () => (await import('./pages/audit/audit.tsx')).AuditPage),
})

const peopleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/people',
  staticData: { crumb: textCrumb('nav.people'), permission: 'people:manage', where: 'everywhere' },
  component: pageOnDemand(async () => (await import('./pages/people/people.tsx')).PeoplePage),
})

const rolesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/roles',
  staticData: { crumb: textCrumb('nav.roles') },
  component: pageOnDemand(async () => (await import('./pages/people/roles.tsx')).RolesPage),
})

const profileRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/profile',
  staticData: { crumb: textCrumb('profile.title') },
  component: pageOnDemand(async () => (await import('./pages/profile/profile.tsx')).ProfilePage),
})

const alertsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/alerts',
  staticData: {
    crumb: textCrumb('nav.alerts'),
    permission: 'configuration:read',
    where: 'everywhere',
  },
  component: pageOnDemand(async () => (await import('./pages/alerts/alerts.tsx')).AlertsPage),
})

const playgroundRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/playground',
  staticData: {
    crumb: textCrumb('nav.playground'),
    // It calls with a key, which has to be chosen, and one of its models.
    permission: ['configuration:read', 'configuration:manage'],
  },
  validateSearch: playgroundSearch,
  component: pageOnDemand(
    async () => (await import('./pages/playground/playground.tsx')).PlaygroundPage,
  ),
})

const apiDocsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/admin-api',
  staticData: { crumb: textCrumb('nav.apiDocs') },
  component: pageOnDemand(async () => (await import('./pages/api-docs/api-docs.tsx')).ApiDocsPage),
})

/** An unknown address keeps the menu for those who are signed in. */
const nowhereRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings/$',
  component: NotFoundPage,
})

const routeTree = rootRoute.addChildren([
  startRoute,
  signInRoute,
  ...linkRoutes,
  appRoute.addChildren([
    apiAccessRoute.addChildren([
      overviewRoute,
      newKeyRoute,
      frameRoute,
      keyRoute.addChildren([detailRoute, editRoute]),
    ]),
    myKeysRoute,
    wishesRoute,
    groupsRoute.addChildren([
      groupListRoute,
      newGroupRoute,
      groupRoute.addChildren([groupDetailRoute, editGroupRoute]),
    ]),
    modelsRoute,
    usageRoute,
    requestsRoute,
    auditRoute,
    peopleRoute,
    rolesRoute,
    profileRoute,
    alertsRoute,
    playgroundRoute,
    apiDocsRoute,
    nowhereRoute,
  ]),
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

/** A key's name in the breadcrumb; its id until the name is known. */
function KeyCrumb() {
  const { id } = useParams({ from: '/app/settings/api-access/$id' })
  const { may } = useSession()
  // A refusal would be recorded against a reader who never asked for the name.
  const isAllowed = may('configuration:read')
  const { data } = useQuery({ ...keyQuery(id), refetchInterval: false, enabled: isAllowed })
  return data?.name ?? id
}

function GroupCrumb() {
  const { id } = useParams({ from: '/app/settings/groups/$id' })
  const { data } = useQuery({ ...groupQuery(id), refetchInterval: false })
  return data?.name ?? id
}

function textCrumb(key: TextKey): ComponentType {
  const TextCrumb = () => useTranslation().t(key)
  return TextCrumb
}
