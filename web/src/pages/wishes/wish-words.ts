// Wishes in words, those that wait for a decision, and what a change of one makes stale.
import { queryOptions } from '@tanstack/react-query'
import { type WishAnswer, wishRoutes } from '../../../../src/admin/contract/people.ts'
import { call } from '../../base/api.ts'
import { every, liveMs } from '../../base/queries.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { madeOldByKey } from '../keys/key-words.ts'

export const madeOldByWish = [['wishes'], ...madeOldByKey] as const

export const openWishesQuery = queryOptions({
  queryKey: ['wishes', 'open'],
  queryFn: ({ signal }) =>
    call(wishRoutes.listWishes, { query: { state: 'open', limit: 200 }, signal }),
  refetchInterval: every(liveMs),
})

type Wanted = WishAnswer['wanted']

/** What is asked for or was given, in a line. */
export function useWantedWords(): (wish: WishAnswer, wanted: Wanted) => string {
  const { t, format } = useTranslation()
  return ({ key: { period } }, { budget, models, expires_at: expiry }) =>
    [
      ...(budget === undefined ? [] : [`${format.money(budget)} ${t(`periodShort.${period}`)}`]),
      ...(models === undefined ? [] : [format.list(models)]),
      ...(expiry === undefined ? [] : [t('wishes.until', { day: format.date(expiry) })]),
    ].join(' · ')
}
