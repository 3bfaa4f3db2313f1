// One change of a key: afterwards every figure is refetched, and a toast confirms it.
import type { UseMutationResult } from '@tanstack/react-query'
import type { Change } from '../../use-change.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByKey } from './key-in-brief.ts'

export function useKeyMutation<Output, Input = void>(
  change: Change<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  return useChange(madeOldByKey, change)
}
