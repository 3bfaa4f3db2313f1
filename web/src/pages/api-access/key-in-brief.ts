// What the lists and the pages know of a key alike, and what a change of one makes old.
import { useQueryClient } from '@tanstack/react-query'
import type { KeyDetail, KeyRow } from '../../../../src/admin/contract/key.ts'

export type KeyInBrief = Pick<KeyRow, keyof KeyRow & keyof KeyDetail>

/** What a change of a key makes old: the figures of all keys and of the frame. */
export const madeOldByKey = [['keys'], ['frame']] as const

/** Every figure of keys and frame is asked for again. */
export function useRefreshKeys(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(madeOldByKey.map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}
