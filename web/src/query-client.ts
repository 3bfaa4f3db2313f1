// How answers are kept: shown at once when they are known, renewed when one comes back to the page.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api.ts'

const attemptsMax = 2

/** `onSignedOut` is called when the gateway no longer knows who asks. */
export function newQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal stays a refusal; only what may pass is asked again.
        retry: (attempts, error) => isPassing(error) && attempts < attemptsMax,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}

function isPassing(error: Error): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.status >= 500)
}
