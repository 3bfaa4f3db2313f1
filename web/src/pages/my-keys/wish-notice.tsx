// What became of the last wish for a key: that it waits, with a button to take it back, or how it was decided.
import { useQuery } from '@tanstack/react-query'
import { type WishAnswer, wishRoutes } from '../../../../src/admin/contract/people.ts'
import { DAY_MS } from '../../../../src/core/units.ts'
import { call } from '../../base/api.ts'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Moment } from '../../parts/cells.tsx'
import { BusyButton, useChange } from '../../parts/changes.tsx'
import { Notice } from '../../parts/notices.tsx'
import { madeOldByWish, useWantedWords } from '../wishes/wish-words.ts'

/** The newest wish of each key. */
export function useLastWishes(isEnabled: boolean): ReadonlyMap<string, WishAnswer> {
  const { data } = useQuery({
    queryKey: ['wishes', 'own'],
    queryFn: ({ signal }) => call(wishRoutes.listWishes, { query: { limit: 200 }, signal }),
    enabled: isEnabled,
    refetchInterval: 15_000,
  })
  const wishes = data?.wishes ?? []
  return new Map(wishes.toReversed().map((wish) => [wish.key.id, wish]))
}

/** How long an outcome is news. */
const newsMs = 14 * DAY_MS

export function WishNotice({ wish }: { readonly wish: WishAnswer }) {
  const { t, format } = useTranslation()
  const now = useNow()
  const wordsOf = useWantedWords()
  const { id, state, decision, wanted } = wish
  const withdraw = useChange(madeOldByWish, {
    change: () => call(wishRoutes.withdrawWish, { params: { id } }),
    said: () => t('wishes.withdrawn'),
  })
  if (state === 'open')
    return (
      <Notice
        tone="info"
        title={t('wishes.youAsked', { wanted: wordsOf(wish, wanted) })}
        actions={
          <BusyButton
            size="compact-sm"
            variant="default"
            isBusy={withdraw.isPending}
            onClick={() => withdraw.mutate()}
          >
            {t('wishes.withdraw')}
          </BusyButton>
        }
      >
        {t('wishes.waits', { when: format.relative(wish.created_at, now) })}
      </Notice>
    )
  if (!decision || state === 'withdrawn' || now - Date.parse(decision.at) > newsMs) return null
  return (
    <Notice
      tone={decision.given ? 'good' : 'warn'}
      title={
        decision.given
          ? t('wishes.wasGranted', { given: wordsOf(wish, decision.given) })
          : t('wishes.wasDeclined', { wanted: wordsOf(wish, wanted) })
      }
    >
      {decision.reason && <div className="break">{decision.reason}</div>}
      <small className="muted">
        {decision.by} · <Moment at={decision.at} />
      </small>
    </Notice>
  )
}
