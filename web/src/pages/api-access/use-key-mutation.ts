// One change of a key: afterwards every figure is asked for again, and a short message says that it was done.
import type { UseMutationResult } from '@tanstack/react-query'
import type { Change } from '../../use-change.ts'
import { useChange } from '../../use-change.ts'
import { madeOldByKey } from './key-in-brief.ts'

export function useKeyMutation<Output, Input = void>(
  change: Change<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  return useChange(madeOldByKey, change)
}
