// The facts about a key that lists and pages share, and the queries that a change of one makes stale.
import { useQueryClient } from '@tanstack/react-query'
import type { KeyDetail, KeyRow } from '../../../../src/admin/contract/key.ts'

export type KeyInBrief = Pick<KeyRow, keyof KeyRow & keyof KeyDetail>

/** Queries that a change of a key makes stale: the figures of all keys and of the frame. */
export const madeOldByKey = [['keys'], ['frame']] as const

/** Refetches every figure of keys and frame. */
export function useRefreshKeys(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(madeOldByKey.map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}
