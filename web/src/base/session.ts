// Who is signed in and what they may do. The server decides every time; this only hides what it would refuse.
import { focusManager, queryOptions, type QueryClient, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { aboutRoutes } from '../../../src/admin/contract/gateway.ts'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import { signInRoutes, type SessionAnswer } from '../../../src/admin/contract/sign-in.ts'
import { call } from './api.ts'

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call(signInRoutes.readSession, { signal }),
  staleTime: 60_000,
})

/** Facts about the gateway itself; requires a session. */
export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: ({ signal }) => call(aboutRoutes.about, { signal }),
  staleTime: Infinity,
})

export type Session = {
  readonly person: SessionAnswer['person']
  /** Whether they may at all, or not only within groups. */
  readonly may: (permission: Permission, where?: 'everywhere') => boolean
  /** Whether they may with all that belongs to this group, or with what is in none. */
  readonly mayWithin: (permission: Permission, groupId: string | undefined) => boolean
}

/** Inside the shell someone is signed in; elsewhere nothing is permitted. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  const present = data?.person ?? null
  // Kept when the session ends: the page stays as it is beneath the form to sign in again.
  const [person, setPerson] = useState(present)
  if (present && present !== person) setPerson(present)
  const may: Session['may'] = (permission, where) =>
    (where === undefined ? person?.permissions : person?.everywhere)?.includes(permission) ?? false
  const mayWithin: Session['mayWithin'] = (permission, groupId) =>
    may(permission, 'everywhere') ||
    (person?.groups ?? []).some(
      ({ id, permissions }) => id === groupId && permissions.includes(permission),
    )
  return { person, may, mayWithin }
}

/** Keeps nothing in memory for the next person: the page is loaded anew. Rejects if the session goes on. */
export async function leave(client: QueryClient, signOut: () => Promise<unknown>): Promise<void> {
  // An unfocused page does not refetch.
  focusManager.setFocused(false)
  await client.cancelQueries()
  try {
    await signOut()
  } catch (error) {
    focusManager.setFocused(undefined)
    throw error
  }
  location.replace('/sign-in')
}
