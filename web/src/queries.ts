// The queries shared by several pages and their cache keys. A change invalidates ['keys'] or ['frame'].
import { queryOptions, keepPreviousData } from '@tanstack/react-query'
import { auditRoutes } from '../../src/admin/contract/audit.ts'
import { frameRoutes } from '../../src/admin/contract/frame.ts'
import { keyRoutes } from '../../src/admin/contract/keys.ts'
import type { KeyQuery } from '../../src/admin/contract/keys.ts'
import { modelRoutes } from '../../src/admin/contract/models.ts'
import { call } from './api.ts'

/** Refetch interval of figures: spending changes while the page is open. */
const liveMs = 15_000
/** Shorter on a key's own page, where someone who just made a call waits for its cost. Hidden pages do not refetch. */
const soonMs = 2_000

/** Refetches what is shown. What could not be loaded waits for the reader, or its error would flicker. */
export const every =
  (intervalMs: number) =>
  ({ state }: { readonly state: { readonly data?: unknown } }) =>
    state.data === undefined ? false : intervalMs

export const keysQuery = (query: KeyQuery) =>
  queryOptions({
    queryKey: ['keys', 'list', query],
    queryFn: ({ signal }) => call(keyRoutes.listKeys, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every(liveMs),
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
