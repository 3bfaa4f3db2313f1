// One change at the gateway: afterwards what it made old is asked for again, and a short message says that it was done.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { QueryKey, UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { showToast } from './parts/toasts.tsx'

export type Change<Input, Output> = {
  readonly change: (input: Input) => Promise<Output>
  /** At once: what is shown only once must not wait until the lists are asked for again. */
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
    // Some answers carry a secret: none is kept.
    gcTime: 0,
    onSuccess: async (output) => {
      onAnswer?.(output)
      await Promise.all(made.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (said) showToast(said(output))
      onDone?.(output)
    },
  })
}
