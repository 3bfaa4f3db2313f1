// One change at the gateway: afterwards the queries it made stale are refetched, and a toast confirms it.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { QueryKey, UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { showToast } from './parts/toasts.tsx'

type Change<Input, Output> = {
  readonly change: (input: Input) => Promise<Output>
  /** Called at once: a value that is shown only once must not wait for the refetches. */
  readonly onAnswer?: (output: Output) => void
  readonly said?: (output: Output) => ReactNode
  readonly onDone?: (output: Output) => void
}

export function useChange<Output, Input = void>(
  made: readonly QueryKey[],
  { change, onAnswer, said, onDone }: Change<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    // Some answers carry a secret, so none is kept.
    gcTime: 0,
    onSuccess: async (output) => {
      onAnswer?.(output)
      await Promise.all(made.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (said) showToast(said(output))
      onDone?.(output)
    },
  })
}
