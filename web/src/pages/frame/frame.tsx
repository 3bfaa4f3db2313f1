// The budget frame above all keys: what remains and will remain, who spends it, its past periods, its audit log; edit, top
// up, reset.
import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { frameRoutes, type FrameAnswer } from '../../../../src/admin/contract/groups.ts'
import type { KeyRow } from '../../../../src/admin/contract/keys.ts'
import { call, newIdempotencyKey } from '../../base/api.ts'
import { frameQuery, keysQuery } from '../../base/queries.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { FrameCard, FrameExhausted, ResetDialog, type Reset } from '../../parts/budgets.tsx'
import { FactList, type Facts, useMoneyColumn } from '../../parts/cells.tsx'
import { useChange } from '../../parts/changes.tsx'
import { type Column, noTotal, QueryTable } from '../../parts/data-table.tsx'
import { KeyIcon } from '../../parts/icons.tsx'
import { Meter, shareOf } from '../../parts/meters.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { PastPeriodTable } from './past-periods.tsx'
import { AuditEntries } from '../audit/audit.tsx'
import { BurnDown } from './burn-down-chart.tsx'
import {
  EditFrameDialog,
  isWeekly,
  madeOldByFrame,
  TopUpFrameDialog,
} from './edit-frame-dialog.tsx'
import type { FrameDialogProps } from './edit-frame-dialog.tsx'
import styles from './frame.module.css'

type Action = keyof typeof dialogs

export function FramePage() {
  const { t } = useTranslation()
  const { may } = useSession()
  const frame = useQuery(frameQuery)
  const [action, setAction] = useState<Action>()
  const ActionDialog = action && dialogs[action]
  return (
    <>
      <PageHeader
        title={t('nav.frame')}
        about={t('framePage.about')}
        actions={frame.data && may('configuration:manage') && <Actions onAction={setAction} />}
      />
      <Stack gap="lg">
        <QueryError
          title={frame.data ? t('overview.stale') : t('framePage.failed')}
          query={frame}
        />
        {frame.isPending && <Loading lines={2} height={150} />}
        {frame.data && (
          <>
            <FrameExhausted
              frame={frame.data}
              actions={may('configuration:manage') && <Remedies onAction={setAction} />}
            />
            <FrameCard frame={frame.data} isStale={frame.isError} />
            <Settings frame={frame.data} />
            {may('usage:read') && <BurnDown frame={frame.data} />}
            <Spenders frame={frame.data} />
            <PastPeriodTable periods={frame.data.history} timezone={frame.data.timezone} />
          </>
        )}
        {may('audit:read') && (
          <section>
            <h2 className={styles['heading']}>{t('framePage.history')}</h2>
            <AuditEntries
              search={{ subject: 'frame' }}
              none={{ title: t('audit.none'), about: t('audit.noneAbout') }}
            />
          </section>
        )}
      </Stack>
      {ActionDialog && frame.data && (
        <ActionDialog frame={frame.data} onClose={() => setAction(undefined)} />
      )}
    </>
  )
}

function Actions({ onAction }: { readonly onAction: (action: Action) => void }) {
  const { t } = useTranslation()
  return (
    <>
      <Button variant="default" onClick={() => onAction('reset')}>
        {t('action.reset')}
      </Button>
      <Button variant="default" onClick={() => onAction('top-up')}>
        {t('action.topUp')}
      </Button>
      <Button onClick={() => onAction('edit')}>{t('framePage.edit')}</Button>
    </>
  )
}

/** What lets calls through again. */
function Remedies({ onAction }: { readonly onAction: (action: Action) => void }) {
  const { t } = useTranslation()
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => onAction('edit')}>
        {t('verdict.raiseFrame')}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => onAction('top-up')}>
        {t('action.topUp')}
      </Button>
    </>
  )
}

const dialogs = { edit: EditFrameDialog, 'top-up': TopUpFrameDialog, reset: ResetFrameDialog }

function Settings({ frame }: { readonly frame: FrameAnswer }) {
  const { t, format } = useTranslation()
  const per = `${format.money(frame.budget)} ${t(`periodShort.${frame.period}`)}`
  const facts: Facts = [
    [t('keyField.budget'), per],
    [t('keyField.top_up'), format.money(frame.top_up)],
    [t('framePage.remaining'), format.moneyLeft(frame.remaining)],
    [t('keyField.timezone'), frame.timezone],
    ...(isWeekly(frame)
      ? [[t('keyForm.field.week_start'), t(`keyForm.weekStart.${frame.week_start}`)] as const]
      : []),
  ]
  return <FactList className={`card ${styles['facts']}`} facts={facts} />
}

const shownMax = 10

/** A key, or all that are not shown. */
type Spender = {
  readonly id: string
  readonly share: number
  /** Undefined: the others. */
  readonly key?: KeyRow
}

const others = 'others'

/** The keys that spend most of the frame in this period: one bar each, all relative to the frame's limit. */
function Spenders({ frame }: { readonly frame: FrameAnswer }) {
  const { t, format } = useTranslation()
  const keys = useQuery(
    // Revoked keys too: after ending a runaway key, people look here for what it spent.
    keysQuery({ sort: 'share', order: 'desc', page: 1, per_page: shownMax }),
  )
  const shown = keys.data?.keys.filter(
    ({ state, frame_share: share }) => state !== 'revoked' || (share ?? 0) > 0,
  )
  const all = shareOf(frame.spent, frame.limit)
  const spenders = shown && spendersOf(shown, { all, isMore: (keys.data?.total ?? 0) > shownMax })
  const budget = useMoneyColumn(shown?.map(({ limit }) => limit))
  const cost = useMoneyColumn(shown?.map(({ cost_7d: { total } }) => total))
  const columns: readonly Column<Spender>[] = [
    {
      header: t('column.name'),
      isRowHeader: true,
      cell: ({ key }) => (key ? <KeyName row={key} /> : t('framePage.others')),
      total: t('framePage.total'),
    },
    {
      header: t('framePage.share'),
      cell: ({ key, share }) => <Share name={key?.name ?? t('framePage.others')} share={share} />,
      total: `${format.percent(all)} · ${format.money(frame.spent)}`,
    },
    {
      header: t('framePage.ownBudget'),
      align: 'end',
      cell: ({ key }) => {
        if (!key) return '–'
        return key.limit === null ? t('budget.noOwnLimit') : budget(key.limit)
      },
      total: noTotal,
    },
    {
      header: t('column.cost'),
      align: 'end',
      cell: ({ key }) => (key ? cost(key.cost_7d.total) : '–'),
      total: noTotal,
    },
  ]
  return (
    <section>
      <h2 className={styles['heading']}>{t('framePage.spenders')}</h2>
      <QueryTable
        caption={t('framePage.spenders')}
        columns={columns}
        rows={spenders}
        query={keys}
        failed={t('overview.failed')}
        none={{ icon: KeyIcon, title: t('overview.none') }}
      />
    </section>
  )
}

type Rest = {
  /** What all keys together have spent of the frame. */
  readonly all: number
  /** Whether there are keys that are not shown. */
  readonly isMore: boolean
}

/** Less than a hundredth of a percent is what rounding leaves. */
const shareMin = 0.0001

/** What is not of these keys is of others: further ones, or those that the ledger no longer has rows of. */
function spendersOf(keys: readonly KeyRow[], { all, isMore }: Rest): readonly Spender[] {
  const known = keys.map((key) => ({ id: key.id, key, share: key.frame_share ?? 0 }))
  const share = Math.max(0, all - known.reduce((sum, each) => sum + each.share, 0))
  return isMore || share >= shareMin ? [...known, { id: others, share }] : known
}

function KeyName({ row: { id, name, state } }: { readonly row: KeyRow }) {
  const { t } = useTranslation()
  return (
    <>
      <Link className="break" to="/settings/api-access/$id" params={{ id }}>
        {name}
      </Link>
      {state === 'revoked' && <div className="sub">{t('keyState.revoked.word')}</div>}
    </>
  )
}

type ShareProps = { readonly name: string; readonly share: number }

function Share({ name, share }: ShareProps) {
  const { t, format } = useTranslation()
  const percent = format.percent(share)
  return (
    <div className={styles['share']}>
      <span>{percent}</span>
      <Meter
        label={t('budget.partOfFrame', { name })}
        valueText={t('budget.share', { percent })}
        max={1}
        segments={[{ kind: 'spent', value: share }]}
        tone="calm"
        height={6}
      />
    </div>
  )
}

function ResetFrameDialog({ frame, onClose }: FrameDialogProps) {
  const { t } = useTranslation()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const reset = useChange(madeOldByFrame, {
    change: (body: Reset) => call(frameRoutes.resetFrame, { body, idempotencyKey }),
    said: () => t('framePage.resetDone'),
    onDone: onClose,
  })
  return (
    <ResetDialog
      title={t('framePage.resetTitle')}
      account={frame}
      effectOf={(spent) => t('framePage.resetEffect', { spent })}
      reset={reset}
      onClose={onClose}
    />
  )
}
