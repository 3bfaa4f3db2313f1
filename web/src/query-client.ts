// The query cache: known answers show at once and are refetched when the reader returns to the page.
import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError, watchPermissions } from './api.ts'
import { sessionQuery } from './session.ts'

const attemptsMax = 2

// A button that was clicked is disabled before the second click of a double click, which a timer would let through.
notifyManager.setScheduler(queueMicrotask)

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
        retry: (attempts, error) => isPassing(error) && attempts < attemptsMax,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}

function isPassing(error: Error): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.status >= 500)
}
