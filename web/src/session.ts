// Who is signed in and what they may do. The server decides every time; this only hides what would be refused.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { aboutRoutes } from '../../src/admin/contract/about.ts'
import { PERMISSIONS } from '../../src/admin/contract/permissions.ts'
import type { Permission } from '../../src/admin/contract/permissions.ts'
import { call } from './api.ts'

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: ({ signal }) => call(aboutRoutes.about, { signal }),
  staleTime: Infinity,
})

type Session = {
  readonly email: string
  readonly may: (permission: Permission) => boolean
}

export function useSession(): Session {
  useSuspenseQuery(aboutQuery)
  return { email: '', may: (permission) => PERMISSIONS.includes(permission) }
}
