// Whether a call would pass now, decided by the gateway's own code for a model the reader chooses; if not, what blocks
// it.
import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Verdict as VerdictAnswer } from '../../../../../src/admin/contract/trial.ts'
import { limitsQuery, revocationQuery } from '../../../base/queries.ts'
import { useSession } from '../../../base/session.ts'
import { useTranslation } from '../../../i18n/i18n.ts'
import { CallRefusal, Loading, Notice, QueryError } from '../../../parts/notices.tsx'
import { blockedTitle } from '../../../parts/refusal-words.ts'
import styles from './detail.module.css'
import type { TabProps } from './tabs.tsx'

export function Verdict({ detail, search, onChange }: TabProps) {
  const { t } = useTranslation()
  const limits = useQuery(limitsQuery(detail.id, search.model))
  if (detail.status === 'revoked') return <Revoked detail={detail} />
  if (limits.error && !limits.data) return <QueryError title={t('verdict.failed')} query={limits} />
  if (!limits.data) return <Loading lines={1} height={60} />
  return (
    <section className={styles['verdict']} aria-label={t('verdict.label')}>
      <VerdictWords verdict={limits.data} detail={detail} />
      {detail.models.length > 0 && (
        <label className={styles['model']}>
          {t('verdict.forModel')}
          <NativeSelect
            value={search.model ?? limits.data.model ?? ''}
            onChange={({ currentTarget }) => onChange({ model: currentTarget.value })}
            data={detail.models}
          />
        </label>
      )}
    </section>
  )
}

type VerdictWordsProps = Pick<TabProps, 'detail'> & { readonly verdict: VerdictAnswer }

function VerdictWords({ verdict, detail }: VerdictWordsProps) {
  const { t, format } = useTranslation()
  const { blocked_by: blocked } = verdict
  const { timezone } = accountOf(verdict) ?? detail
  const { may } = useSession()
  const remedy = may('configuration:manage') ? remedyOf(verdict) : undefined
  if (blocked)
    return (
      <Notice
        tone="bad"
        title={t(blockedTitle(verdict))}
        actions={remedy && <RemedyLink remedy={remedy} detail={detail} />}
      >
        <CallRefusal error={blocked} hasRemedy={remedy !== undefined} />
        <Recent recent={verdict.recent} shown={blocked.code} />{' '}
        {blocked.resets_at &&
          t('verdict.until', { moment: format.reset(blocked.resets_at, timezone) })}{' '}
        <small className="muted">
          <code>
            {blocked.status} {blocked.code}
          </code>
        </small>
      </Notice>
    )
  const { remaining } = verdict
  const { median_hold: median } = verdict.recent
  return (
    <Notice
      tone={isTurnedAway(verdict.recent) ? 'warn' : 'good'}
      title={t(median === null ? 'verdict.passes' : 'verdict.usualPasses')}
    >
      <Recent recent={verdict.recent} />{' '}
      {verdict.worst_case !== null &&
        t('verdict.worstCase', { amount: format.money(verdict.worst_case) })}{' '}
      {remaining !== null && t('verdict.left', { amount: format.moneyLeft(remaining) })}{' '}
      {verdict.target !== null && t('verdict.target', { target: verdict.target })}
    </Notice>
  )
}

type RecentCalls = VerdictAnswer['recent']

function isTurnedAway({ calls, refused }: RecentCalls): boolean {
  return calls > 0 && refused === calls
}

type RecentProps = {
  readonly recent: RecentCalls
  /** The code that is shown beside it. */
  readonly shown?: string
}

/** What became of the key's last calls. */
function Recent({ recent, shown }: RecentProps) {
  const { t, format } = useTranslation()
  const { calls, succeeded, failed, refused, codes } = recent
  if (calls === 0) return null
  const isSaid = codes.every((code) => code === shown)
  const why = isSaid ? '' : t('verdict.codes', { codes: format.list(codes) })
  if (isTurnedAway(recent)) return t('verdict.allRefused', { count: calls, why })
  return refused === 0
    ? t('verdict.recent', { count: calls, succeeded, failed })
    : t('verdict.someRefused', { count: calls, succeeded, failed, refused, why })
}

/** What blocks, where that is above the key. */
function accountOf({ blocked_by: blocked, group, frame }: VerdictAnswer) {
  if (blocked?.scope === 'group') return group
  return blocked?.scope === 'frame' ? frame : null
}

type RemedyLinkProps = Pick<TabProps, 'detail'> & {
  readonly remedy: NonNullable<ReturnType<typeof remedyOf>>
}

/** A link to the setting that lifts the blocking limit. */
function RemedyLink({ remedy, detail }: RemedyLinkProps) {
  const { t } = useTranslation()
  const pages = {
    raiseFrame: '/settings/api-access/frame',
    raiseGroup: `/settings/groups/${detail.group?.id}/edit`,
    raiseBudget: `/settings/api-access/${detail.id}/edit`,
    setDate: `/settings/api-access/${detail.id}/edit`,
  }
  return (
    <Button component={Link} to={pages[remedy]} size="compact-sm" variant="default">
      {t(`verdict.${remedy}`)}
    </Button>
  )
}

const remedies = {
  key: 'raiseBudget',
  model: 'raiseBudget',
  request: 'raiseBudget',
  group: 'raiseGroup',
  frame: 'raiseFrame',
} as const

function remedyOf({ blocked_by: blocked }: VerdictAnswer) {
  if (blocked?.code === 'expired_api_key') return 'setDate'
  return blocked?.scope ? remedies[blocked.scope] : undefined
}

function Revoked({ detail }: Pick<TabProps, 'detail'>) {
  const { t, format } = useTranslation()
  const { may } = useSession()
  const revocation = useQuery({ ...revocationQuery(detail.id), enabled: may('audit:read') })
  const actor = revocation.data?.actor
  const when = detail.revoked_at ? format.dateTime(detail.revoked_at) : ''
  return (
    <Notice
      tone="bad"
      title={actor ? t('verdict.revokedBy', { when, actor }) : t('verdict.revoked', { when })}
    >
      {detail.revoked_reason}
    </Notice>
  )
}
