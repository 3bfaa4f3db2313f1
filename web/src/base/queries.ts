// The query cache, and the queries that several pages share. A change invalidates ['keys'], ['groups'] or ['frame'].
import {
  infiniteQueryOptions,
  keepPreviousData,
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  queryOptions,
  type QueryKey,
} from '@tanstack/react-query'
import { auditRoutes } from '../../../src/admin/contract/audit.ts'
import { modelRoutes } from '../../../src/admin/contract/gateway.ts'
import { frameRoutes, groupRoutes } from '../../../src/admin/contract/groups.ts'
import { keyRoutes, type KeyQuery } from '../../../src/admin/contract/keys.ts'
import { peopleRoutes } from '../../../src/admin/contract/people.ts'
import { ApiError, call, watchPermissions } from './api.ts'
import { sessionQuery } from './session.ts'

/** Refetch interval of figures: spending changes while the page is open. */
export const liveMs = 15_000
/** Shorter on the page of one key or group, where someone who just made a call waits for its cost. Hidden pages do not refetch. */
const soonMs = 2_000

/** Refetches what is shown. What could not be loaded waits for the reader, or its error would flicker. */
export const every =
  (intervalMs: number) =>
  ({ state }: { readonly state: { readonly data?: unknown } }) =>
    state.data === undefined ? false : intervalMs

/** A list that is loaded page by page, newest first. */
export const pagesQuery = <Page extends { readonly next: string | null }>(
  queryKey: QueryKey,
  load: (before: string | undefined, signal: AbortSignal) => Promise<Page>,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before, signal }) => load(before, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
  })

export const keysQuery = (query: KeyQuery) =>
  queryOptions({
    queryKey: ['keys', 'list', query],
    queryFn: ({ signal }) => call(keyRoutes.listKeys, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every(liveMs),
  })

export const labelsQuery = queryOptions({
  queryKey: ['keys', 'labels'],
  queryFn: ({ signal }) => call(keyRoutes.listLabels, { signal }),
})

export const keyQuery = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => call(keyRoutes.readKey, { params: { id }, signal }),
    refetchInterval: every(soonMs),
  })

export const limitsQuery = (id: string, model: string | undefined) =>
  queryOptions({
    queryKey: ['keys', 'limits', id, model],
    queryFn: ({ signal }) =>
      call(keyRoutes.readLimits, { params: { id }, query: { model }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every(soonMs),
  })

/** The audit entry that names who revoked a key. */
export const revocationQuery = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'revocation', id],
    queryFn: async ({ signal }) => {
      const query = { subject_id: id, action: 'key.revoke', outcome: 'done', limit: 1 } as const
      const { entries } = await call(auditRoutes.listAudit, { query, signal })
      return entries[0] ?? null
    },
  })

export const groupsQuery = queryOptions({
  queryKey: ['groups', 'list'],
  queryFn: async ({ signal }) => (await call(groupRoutes.listGroups, { signal })).groups,
  refetchInterval: every(liveMs),
})

export const groupQuery = (id: string) =>
  queryOptions({
    queryKey: ['groups', 'one', id],
    queryFn: ({ signal }) => call(groupRoutes.readGroup, { params: { id }, signal }),
    refetchInterval: every(soonMs),
  })

export const frameQuery = queryOptions({
  queryKey: ['frame'],
  queryFn: ({ signal }) => call(frameRoutes.readFrame, { signal }),
  refetchInterval: every(liveMs),
})

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await call(modelRoutes.listModels, { signal })).models,
  staleTime: 60_000,
})

export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: async ({ signal }) => (await call(peopleRoutes.listRoles, { signal })).roles,
})

const attemptsMax = 2

// A button that was clicked is disabled before the second click of a double click, which a timer would let through.
notifyManager.setScheduler(queueMicrotask)

/** The query cache: known answers show at once and are refetched when the reader returns to the page. */
export function newQueryClient(): QueryClient {
  // The gateway no longer accepts the session: what the page knows of it is read again.
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === 'not_signed_in')
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  // A permission that was lost or won changes the menu and the page at once, not when the session is next read.
  watchPermissions((now) => {
    const { queryKey } = sessionQuery
    const known = client.getQueryData(queryKey)?.person?.permissions
    if (known === undefined || client.isFetching({ queryKey }) > 0) return
    if (new Set(now).symmetricDifference(new Set<string>(known)).size > 0)
      void client.invalidateQueries({ queryKey })
  })
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal is final; only errors that may pass are retried.
        retry: (attempts, error) =>
          attempts < attemptsMax &&
          error instanceof ApiError &&
          (error.code === 'unreachable' || error.status >= 500),
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}
