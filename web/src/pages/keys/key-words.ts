// Keys in a few words, and what a change of one makes stale: for every page that names a key, without what acts on it.
import { useQueryClient } from '@tanstack/react-query'
import type { KeyDetail, KeyRow } from '../../../../src/admin/contract/keys.ts'
import { useTranslation } from '../../i18n/i18n.ts'

export type KeyInBrief = Pick<KeyRow, keyof KeyRow & keyof KeyDetail>

/** Queries that a change of a key makes stale: the figures of all keys, of groups and of the frame. */
export const madeOldByKey = [['keys'], ['groups'], ['frame']] as const

/** Refetches every figure of keys, groups and frame. */
export function useRefreshKeys(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(madeOldByKey.map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}

/** Which group a key is in, what it is for, whose it is, and that it is only for tests, in one line. */
export function useKeyFacts(): (key: KeyInBrief) => string {
  const { t } = useTranslation()
  return ({ group, environment, owner, mode }) =>
    [group?.name ?? null, environment, owner, mode === 'test' ? t('mode.test') : null]
      .filter((fact) => fact !== null)
      .join(' · ')
}

type Rates = Pick<KeyRow, 'rpm' | 'tpm' | 'concurrency'>

/** A key's rate limits in a few words; undefined if it has none. */
export function useRateWords(): (rates: Rates) => string | undefined {
  const { t, format } = useTranslation()
  return (rates) => {
    const words = (['rpm', 'tpm', 'concurrency'] as const).flatMap((name) => {
      const value = rates[name]
      return value === null ? [] : [t(`rates.${name}`, { value: format.compact(value) })]
    })
    return words.length === 0 ? undefined : words.join(' · ')
  }
}
