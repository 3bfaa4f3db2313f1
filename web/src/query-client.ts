// How answers are kept: shown at once when they are known, renewed when one comes back to the page.
import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api.ts'

const attemptsMax = 2

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // A refusal stays a refusal; only what may pass is asked again.
        retry: (attempts, error) => isPassing(error) && attempts < attemptsMax,
      },
    },
  })
}

function isPassing(error: Error): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || error.status >= 500)
}
