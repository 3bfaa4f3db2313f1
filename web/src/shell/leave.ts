// The way out. From its first moment the page asks for nothing more, and nothing that this person saw stays in memory:
// whoever signs in next gets a page that was loaded anew.
import { focusManager } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'

/** Rejects when the session could not be ended; then the page goes on as before. */
export async function leave(client: QueryClient, signOut: () => Promise<unknown>): Promise<void> {
  // A page that nobody looks at does not renew itself.
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
