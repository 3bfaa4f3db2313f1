// One change of a key: afterwards every figure is asked for again, and a short message says that it was done.
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useRefreshKeys } from './key-in-brief.ts'

type KeyMutation<Input, Output> = {
  readonly change: (input: Input) => Promise<Output>
  readonly said: (output: Output) => ReactNode
  readonly onDone?: (output: Output) => void
}

export function useKeyMutation<Output, Input = void>({
  change,
  said,
  onDone,
}: KeyMutation<Input, Output>): UseMutationResult<Output, Error, Input> {
  const refresh = useRefreshKeys()
  return useMutation({
    mutationFn: change,
    onSuccess: async (output) => {
      await refresh()
      notifications.show({ message: said(output), role: 'status', autoClose: 6_000 })
      onDone?.(output)
    },
  })
}
