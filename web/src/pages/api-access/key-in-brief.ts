// The facts about a key that lists and pages share, and the queries that a change of one makes stale.
import { useQueryClient } from '@tanstack/react-query'
import type { KeyDetail, KeyRow } from '../../../../src/admin/contract/key.ts'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import { call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { useChange } from '../../use-change.ts'

export type KeyInBrief = Pick<KeyRow, keyof KeyRow & keyof KeyDetail>

export type KeyAction = 'pause' | 'revoke' | 'rotate' | 'end-overlap' | 'top-up' | 'reset' | 'test'

/** Queries that a change of a key makes stale: the figures of all keys and of the frame. */
export const madeOldByKey = [['keys'], ['frame']] as const

/** Refetches every figure of keys and frame. */
export function useRefreshKeys(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(madeOldByKey.map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}

/** Resuming needs no confirmation: it loses nothing. */
export function useResume() {
  const { t } = useTranslation()
  return useChange(madeOldByKey, {
    change: ({ id }: { readonly id: string }) => call(keyRoutes.resumeKey, { params: { id } }),
    said: ({ name }) => t('resume.done', { name }),
  })
}
