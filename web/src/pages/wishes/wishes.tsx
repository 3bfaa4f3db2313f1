// What members ask for beyond the rules of their groups, for those who decide: what is open first, then what became of the
// rest.
import { Button, Group, Stack } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type WishAnswer, wishRoutes } from '../../../../src/admin/contract/people.ts'
import { call } from '../../base/api.ts'
import { pagesQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { FactList, type Facts, Moment, StatusBadge } from '../../parts/cells.tsx'
import { type Column, QueryTable } from '../../parts/data-table.tsx'
import { BanIcon, CheckIcon, ClockIcon, RotateIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, QueryError } from '../../parts/notices.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { openWishesQuery, useWantedWords } from './wish-words.ts'
import cards from '../../parts/card-list.module.css'
import styles from './wishes.module.css'

const DecisionDialog = dialogOnDemand(
  async () => (await import('./decision-dialogs.tsx')).DecisionDialog,
)

type Open = { readonly verb: 'grant' | 'decline'; readonly wish: WishAnswer }

export function WishesPage() {
  const { t } = useTranslation()
  const open = useQuery(openWishesQuery)
  const [deciding, setDeciding] = useState<Open>()
  return (
    <>
      <PageHeader title={t('nav.wishes')} about={t('wishes.about')} />
      <Stack gap="lg">
        <QueryError title={t('wishes.failed')} query={open} />
        {open.isLoading && <Loading lines={2} height={150} />}
        {open.data?.wishes.length === 0 && (
          <EmptyState icon={CheckIcon} title={t('wishes.none')} about={t('wishes.noneAbout')} />
        )}
        {open.data && open.data.wishes.length > 0 && (
          <ul className={cards['list']} aria-label={t('wishes.title')}>
            {open.data.wishes.map((wish) => (
              <li key={wish.id} className="card">
                <WishCard wish={wish} onDecide={(verb) => setDeciding({ verb, wish })} />
              </li>
            ))}
          </ul>
        )}
        <Decided />
      </Stack>
      {deciding && <DecisionDialog {...deciding} onClose={() => setDeciding(undefined)} />}
    </>
  )
}

type WishCardProps = {
  readonly wish: WishAnswer
  readonly onDecide: (verb: Open['verb']) => void
}

function WishCard({ wish, onDecide }: WishCardProps) {
  const { t } = useTranslation()
  const { mayWithin } = useSession()
  const { key, group, person, reason } = wish
  return (
    <>
      <div className={cards['head']}>
        <h2>
          <Link className="break" to="/settings/api-access/$id" params={{ id: key.id }}>
            {key.name}
          </Link>
        </h2>
        {group && (
          <Link className="break" to="/settings/groups/$id" params={{ id: group.id }}>
            {group.name}
          </Link>
        )}
      </div>
      <p className="sub break">
        {person.email} · <Moment at={wish.created_at} />
      </p>
      <blockquote className={styles['reason']}>{reason}</blockquote>
      <FactList facts={useWantedFacts(wish)} />
      {mayWithin('configuration:manage', group?.id) && (
        <Group mt="md" gap="sm">
          <Button size="compact-sm" onClick={() => onDecide('grant')}>
            {t('wishes.grant')}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => onDecide('decline')}>
            {t('wishes.decline')}
          </Button>
        </Group>
      )}
    </>
  )
}

/** What the key has, and what it would have. */
function useWantedFacts({ key, wanted }: WishAnswer): Facts {
  const { t, format } = useTranslation()
  const { budget, models, expires_at: expiry } = wanted
  const change = (from: string, to: string) => t('wishes.change', { from, to })
  const per = t(`periodShort.${key.period}`)
  return [
    ...(budget === undefined
      ? []
      : [
          [
            t('column.budget'),
            `${change(format.money(key.budget ?? '0'), format.money(budget))} ${per} (${t('budget.part.spent', { amount: format.money(key.spent) })})`,
          ] as const,
        ]),
    ...(models === undefined
      ? []
      : [[t('column.models'), t('wishes.also', { models: format.list(models) })] as const]),
    ...(expiry === undefined
      ? []
      : [
          [
            t('column.expires'),
            change(key.expires_at ? format.date(key.expires_at) : t('never'), format.date(expiry)),
          ] as const,
        ]),
  ]
}

const looks = {
  granted: { tone: 'good', icon: CheckIcon },
  declined: { tone: 'bad', icon: BanIcon },
  withdrawn: { tone: 'neutral', icon: RotateIcon },
  open: { tone: 'neutral', icon: ClockIcon },
} as const

/** What became of the others, newest first. */
function Decided() {
  const { t } = useTranslation()
  const wordsOf = useWantedWords()
  const decided = useInfiniteQuery(
    pagesQuery(['wishes', 'decided'], (before, signal) =>
      call(wishRoutes.listWishes, { query: { state: 'decided', before, limit: 20 }, signal }),
    ),
  )
  const rows = decided.data?.pages.flatMap(({ wishes }) => wishes)
  if (rows?.length === 0) return null
  const columns: readonly Column<WishAnswer>[] = [
    {
      header: t('column.name'),
      isRowHeader: true,
      cell: (wish) => (
        <>
          <Link className="break" to="/settings/api-access/$id" params={{ id: wish.key.id }}>
            {wish.key.name}
          </Link>
          <div className="sub break">{wish.person.email}</div>
        </>
      ),
    },
    { header: t('wishes.wanted'), cell: (wish) => wordsOf(wish, wish.wanted) },
    {
      header: t('column.status'),
      cell: ({ state }) => <StatusBadge {...looks[state]} word={t(`wishes.state.${state}`)} />,
    },
    {
      header: t('wishes.outcome'),
      cell: (wish) => (
        <>
          {wish.decision?.given && wordsOf(wish, wish.decision.given)}
          <div className="sub break">{wish.decision?.reason}</div>
        </>
      ),
    },
    {
      header: t('wishes.decided'),
      cell: ({ decision }) =>
        decision && (
          <>
            <Moment at={decision.at} />
            <div className="sub break">{decision.by}</div>
          </>
        ),
    },
  ]
  return (
    <section aria-labelledby="decided">
      <h2 id="decided" className={cards['title']}>
        {t('wishes.decidedTitle')}
      </h2>
      <QueryTable
        caption={t('wishes.decidedTitle')}
        columns={columns}
        rows={rows}
        query={decided}
        failed={t('wishes.failed')}
        expectedLines={2}
      />
    </section>
  )
}
