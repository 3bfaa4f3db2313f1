// Queries for the reader's own account.
import { queryOptions } from '@tanstack/react-query'
import { profileRoutes } from '../../../../src/admin/contract/profile.ts'
import { call } from '../../api.ts'

export const profileQuery = queryOptions({
  queryKey: ['profile', 'self'],
  queryFn: ({ signal }) => call(profileRoutes.readProfile, { signal }),
})

export const sessionsQuery = queryOptions({
  queryKey: ['profile', 'sessions'],
  queryFn: async ({ signal }) => (await call(profileRoutes.listSessions, { signal })).sessions,
})

export const tokensQuery = queryOptions({
  queryKey: ['profile', 'tokens'],
  queryFn: async ({ signal }) => (await call(profileRoutes.listTokens, { signal })).tokens,
})
