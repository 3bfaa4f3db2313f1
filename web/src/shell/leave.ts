// Sign-out. The page refetches nothing from the moment it starts, and keeps nothing this person saw in memory: the next
// person to sign in gets a freshly loaded page.
import { focusManager } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'

/** Rejects if the session could not be ended; the page then continues as before. */
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
